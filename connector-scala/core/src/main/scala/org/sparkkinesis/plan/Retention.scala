package org.sparkkinesis.plan

import org.sparkkinesis.model.{ShardId, StartingPosition}

/** Finds positions whose next records may have expired already. Pure. */
object Retention {

  /**
   * Shards of a stream that were last known to be read up to a time that is older than what the stream keeps.
   *
   * @param oldestMillis
   *   arrival time of the oldest record that the stream still keeps
   */
  def lost(stream: StreamOffset, oldestMillis: Long): Seq[(ShardId, Long)] = stream.shards.toSeq.collect {
    case (shard, ShardPosition.After(_, until)) if until < oldestMillis => shard -> until
    case (shard, ShardPosition.Start(StartingPosition.AtTimestamp(from))) if from < oldestMillis => shard -> from
  }
}
