package org.sparkkinesis.emulator.action.shard

import org.sparkkinesis.emulator.action.call.{Patterns, Validator}
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.{ShardLog, ShardSet}
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.ShardId

/** The shards that ListShards returns. Times are epoch milliseconds. */
sealed abstract private[shard] class ShardSelection(val name: String) {

  /** Returns the condition that a shard must meet in a listing at the time `now`. */
  def accepts(stream: DataStream, now: Long): ShardLog => Boolean
  protected def argument: String = ""
  final def encode: String = s"$name $argument"
}

private[shard] object ShardSelection {
  private def openAt(time: Long)(shard: ShardLog): Boolean =
    shard.openedMillis <= time && shard.closing.forall(_.millis >= time)

  private def unexpired(stream: DataStream, now: Long): ShardLog => Boolean = {
    val horizon = stream.horizon(now)
    shard => shard.closing.forall(_.millis >= horizon)
  }

  case object FromTrimHorizon extends ShardSelection("FROM_TRIM_HORIZON") {
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = unexpired(stream, now)
  }

  case object AtTrimHorizon extends ShardSelection("AT_TRIM_HORIZON") {
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = {
      val opened = stream.shards.all.headOption.fold(0L)(_.openedMillis)
      openAt(math.max(stream.horizon(now), opened))
    }
  }

  case object AtLatest extends ShardSelection("AT_LATEST") {
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = _.isOpen
  }

  final case class AfterShardId(index: Long) extends ShardSelection("AFTER_SHARD_ID") {
    override protected def argument: String = index.toString
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = {
      val alive = unexpired(stream, now)
      shard => shard.index > index && alive(shard)
    }
  }

  final case class AtTimestamp(millis: Long) extends ShardSelection("AT_TIMESTAMP") {
    override protected def argument: String = millis.toString
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = openAt(millis)
  }

  final case class FromTimestamp(millis: Long) extends ShardSelection("FROM_TIMESTAMP") {
    override protected def argument: String = millis.toString
    override def accepts(stream: DataStream, now: Long): ShardLog => Boolean = {
      val from = math.max(millis, stream.horizon(now))
      shard => shard.closing.forall(_.millis >= from)
    }
  }

  private val Names =
    Seq("AFTER_SHARD_ID", "AT_TRIM_HORIZON", "FROM_TRIM_HORIZON", "AT_LATEST", "AT_TIMESTAMP", "FROM_TIMESTAMP")

  def read(fields: Fields): ShardSelection = {
    val validator = new Validator(fields)
    val kind = validator.requiredOneOf("Type", Names: _*)
    validator.string("ShardId", Patterns.ShardId, Patterns.MaxName, 1)
    validator.check()
    def time: Long = fields
      .timestamp("Timestamp")
      .getOrElse(throw ServiceError.invalidArgument(
        s"Timestamp must be given for the ShardSelection type ${kind.get}."
      ))
    def shard: Long = {
      val id = fields
        .string("ShardId")
        .getOrElse(throw ServiceError.invalidArgument(
          "ShardId must be given for the ShardSelection type AFTER_SHARD_ID."
        ))
      ShardSet.indexOf(ShardId(id)).getOrElse(throw ServiceError.invalidArgument(s"Invalid ShardId: $id"))
    }
    make(kind.get, time, shard)
  }

  def decode(text: String): ShardSelection = {
    val parts = text.split(' ')
    make(parts(0), parts(1).toLong, parts(1).toLong)
  }

  private def make(kind: String, time: => Long, shard: => Long): ShardSelection = kind match {
    case "AFTER_SHARD_ID" => AfterShardId(shard)
    case "AT_TRIM_HORIZON" => AtTrimHorizon
    case "AT_LATEST" => AtLatest
    case "AT_TIMESTAMP" => AtTimestamp(time)
    case "FROM_TIMESTAMP" => FromTimestamp(time)
    case _ => FromTrimHorizon
  }
}
