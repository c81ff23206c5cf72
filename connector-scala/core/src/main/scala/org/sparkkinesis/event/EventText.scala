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
  def seconds(millis: Long): String = s"${number(millis / 1000.0)} s"

  /** Formats milliseconds in the unit that fits: `12.5 s`, `14.2 min`, `23.9 h`, `6.5 days`. */
  def duration(millis: Long): String = {
    val (_, unit, name) = durations.find(millis >= _._1).getOrElse((0L, 1000L, "s"))
    s"${number(millis.toDouble / unit)} $name"
  }

  /** Formats a number of bytes in the unit that fits. */
  def bytes(n: Long): String = {
    val (unit, name) = sizes.find(n >= _._1).getOrElse(sizes.last)
    if (unit == 1) s"$n $name" else s"${number(n.toDouble / unit)} $name"
  }

  /** Formats a number with one decimal. */
  def number(value: Double): String = String.format(java.util.Locale.ROOT, "%.1f", Double.box(value))

  /** From which time on a unit is used, its milliseconds and its name. */
  private val durations =
    Seq((48L * 3600000, 24L * 3600000, "days"), (2L * 3600000, 3600000L, "h"), (120000L, 60000L, "min"))
  private val sizes = Seq((1L << 30) -> "GiB", (1L << 20) -> "MiB", (1L << 10) -> "KiB", 1L -> "bytes")
}
