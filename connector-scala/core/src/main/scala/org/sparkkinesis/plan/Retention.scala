package org.sparkkinesis.plan

import org.sparkkinesis.model.{ShardId, StartingPosition}

/** Finds positions whose next records may have expired. Pure. */
object Retention {

  /**
   * Returns the shards that were last known to be read up to a time before `oldestMillis`, with that time.
   *
   * @param oldestMillis
   *   arrival time of the oldest record in the stream, epoch milliseconds
   */
  def lost(stream: StreamOffset, oldestMillis: Long): Seq[(ShardId, Long)] = stream.shards.toSeq.collect {
    case (shard, ShardPosition.After(_, until)) if until < oldestMillis => shard -> until
    case (shard, ShardPosition.Start(StartingPosition.AtTimestamp(from))) if from < oldestMillis => shard -> from
  }
}
