package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.model.StreamShard

/**
 * A shard that was behind when newer records of it were fetched. Records in between may have expired.
 *
 * @param untilMillis
 *   the time up to which it had been read, in epoch milliseconds
 * @param behindMillis
 *   how long ago that was
 */
final case class Overtaken(shard: StreamShard, untilMillis: Long, behindMillis: Long)
