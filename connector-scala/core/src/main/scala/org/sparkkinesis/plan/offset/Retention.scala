package org.sparkkinesis.plan.offset

import scala.concurrent.duration._

import org.sparkkinesis.model.ShardId

/** Finds positions whose next records may have expired. Pure. */
object Retention {

  /** Time until the first fetch of a shard, within which its oldest records may expire without a report. */
  val FirstFetch: FiniteDuration = 1.hour

  /**
   * Returns the shards that were last known to be read up to a time before `oldestMillis`, with that time.
   *
   * @param oldestMillis
   *   arrival time of the oldest record in the stream, epoch milliseconds
   */
  def lost(stream: StreamOffset, oldestMillis: Long): Seq[(ShardId, Long)] = for {
    (shard, position) <- stream.shards.toSeq
    // Nothing is left of a finished shard; the positions of its children have times of their own.
    if position != ShardPosition.ShardEnd
    until <- stream.readUntil(shard)
    if until < oldestMillis
  } yield shard -> until

  /**
   * Shards of a batch that runs again whose first records may have expired since it was planned.
   *
   * @param start
   *   the position before the batch; `None` if the stream joined, or returned, in the batch
   * @param read
   *   the shards that the batch reads
   */
  def lostOfBatch(
      start: Option[StreamOffset],
      end: StreamOffset,
      read: Set[ShardId],
      oldestMillis: Long
  ): Seq[(ShardId, Long)] = {
    val unbegun = start.toSeq.flatMap(lost(_, oldestMillis)).filterNot { case (shard, _) => end.begun.contains(shard) }
    (unbegun ++ end.begun.filter(_._2 < oldestMillis)).filter { case (shard, _) => read(shard) }
  }
}
