package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.event.ConsumerHealth
import org.sparkkinesis.metric.ShardFigures
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.spark.coordinator.state.FetchRates

/**
 * A snapshot of the coordinator's state, for metrics.
 *
 * @param behind
 *   each shard with something to read
 * @param fetchedMillisBehindLatest
 *   how far fetching is behind, in milliseconds, for each open shard with a report: the service's last value
 *   and, if it is old, its age
 * @param totals
 *   counters of all consumers, including those of lost executors
 * @param withheldRows
 *   number of fetched rows that wait for shards which are behind; empty if shards are read independently
 * @param fetchedBehindByStream
 *   the greatest value of `fetchedMillisBehindLatest` of each stream
 * @param health
 *   state of the consumers by executor
 */
final case class CoordinatorStatus(
    behind: Seq[ShardStatus],
    fetchedMillisBehindLatest: Seq[Long],
    openShards: Int,
    endedShards: Int,
    shardsByExecutor: Map[String, Int],
    totals: Map[String, Long],
    withheldRows: Option[Long],
    openByStream: Map[String, Int] = Map.empty,
    fetchedBehindByStream: Map[String, Long] = Map.empty,
    health: Map[String, ConsumerHealth] = Map.empty
)

/**
 * A snapshot of one shard, for metrics.
 *
 * @param millisBehindLatest
 *   how far the query is behind, in milliseconds: the age of the oldest record that no batch has taken or, if no record
 *   is buffered, how far fetching is behind
 * @param rate
 *   how fast it is fetched; empty before the first measurement
 * @param owner
 *   id of the executor that reads it
 */
final case class ShardStatus(
    shard: StreamShard,
    millisBehindLatest: Long,
    rate: Option[FetchRates],
    owner: Option[String] = None
) {
  def figures: ShardFigures = ShardFigures(
    shard,
    millisBehindLatest,
    owner,
    rate.fold(0.0)(_.rowsPerSecond),
    rate.fold(0.0)(_.bytesPerSecond)
  )
}
