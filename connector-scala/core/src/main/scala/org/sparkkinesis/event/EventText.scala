package org.sparkkinesis.event

import java.time.Instant

import org.sparkkinesis.model.{ShardId, StartingPosition}

/** Formats values that several events have in their messages. */
private[event] object EventText {

  /** Maximum number of shards in a message; a stream can have thousands. */
  val MaxNamed = 20

  def list(items: Seq[String]): String = {
    val more = items.size - MaxNamed
    items.take(MaxNamed).mkString(", ") + (if (more > 0) s", and $more more" else "")
  }

  def shards(ids: Seq[ShardId]): String = list(ids.map(_.value))

  def count(n: Long, noun: String): String = count(n, noun, noun + "s")
  def count(n: Long, one: String, several: String): String = s"$n ${if (n == 1) one else several}"

  def positions(shards: Seq[(ShardId, Option[StartingPosition])]): String = list(shards.map { case (shard, at) =>
    at.fold(s"$shard finished")(position => s"$shard ${place(position)}")
  })

  def place(position: StartingPosition): String = position match {
    case StartingPosition.TrimHorizon => "from TRIM_HORIZON"
    case StartingPosition.Latest => "from LATEST"
    case StartingPosition.AtTimestamp(millis) => s"from ${Instant.ofEpochMilli(millis)}"
    case StartingPosition.AtSequenceNumber(number) => s"at $number"
    case StartingPosition.AfterSequenceNumber(number) => s"after $number"
  }

  /** Formats milliseconds as seconds with one decimal. */
  def seconds(millis: Long): String = String.format(java.util.Locale.ROOT, "%.1f s", Double.box(millis / 1000.0))
}
