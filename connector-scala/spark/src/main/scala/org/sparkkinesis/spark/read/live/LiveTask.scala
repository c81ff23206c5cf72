package org.sparkkinesis.spark.read.live

import org.apache.spark.sql.connector.read.InputPartition

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.realtime.{BatchShards, LiveShard}

/**
 * The shards that one task of a real-time batch reads.
 *
 * @param finished
 *   shards that were finished before the batch
 * @param ofBatch
 *   the shards of all tasks and those that wait for the next batch, none of which the task must begin as a child
 * @param locations
 *   the executor whose consumers read the shards, in Spark's format
 * @param serviceMillis
 *   the time of the service when the batch was planned, in epoch milliseconds; it is not later than the real one
 * @param isEnded
 *   whether the task ends at once, because the query reads nothing more
 */
final case class LiveTask(
    shards: Vector[LiveShard],
    finished: Set[StreamShard],
    ofBatch: BatchShards,
    locations: Array[String],
    serviceMillis: Long,
    isEnded: Boolean = false
) extends InputPartition {
  override def preferredLocations(): Array[String] = locations
}
