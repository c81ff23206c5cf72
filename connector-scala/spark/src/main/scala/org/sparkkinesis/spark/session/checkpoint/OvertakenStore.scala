package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.spark.coordinator.state.Overtaken

/**
 * Stores, in the checkpoint directory, the shards that were read late while the retention period of their stream could
 * not be read. The batch with their next records may be committed before it can be read, and then no offset shows that
 * records in between may have expired. For the query's thread.
 */
final class OvertakenStore(files: CheckpointFiles) {
  import OvertakenStore._

  private var noted: Seq[Overtaken] = files.read(Name).toSeq.flatMap(_.linesIterator.flatMap(decode))

  /** Returns the stored shards. */
  def all: Seq[Overtaken] = noted

  /** Replaces the stored shards. */
  def note(late: Seq[Overtaken]): Unit = if (late != noted) {
    if (late.isEmpty) files.delete(Name) else files.write(Name, late.map(encode).mkString("\n"))
    noted = late
  }
}

private object OvertakenStore {
  val Name = "overtaken"

  def encode(late: Overtaken): String =
    s"${late.shard.stream} ${late.shard.shard.value} ${late.untilMillis} ${late.behindMillis}"

  /** Returns `None` for a line that was not written by [[encode]]. */
  def decode(line: String): Option[Overtaken] = line.split(' ') match {
    case Array(arn, shard, until, behind) =>
      for {
        untilMillis <- until.toLongOption
        behindMillis <- behind.toLongOption
      } yield Overtaken(StreamShard(arn, ShardId(shard)), untilMillis, behindMillis)
    case _ => None
  }
}
