package org.sparkkinesis.spark.coordinator

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
 */
final case class CoordinatorStatus(
    behind: Seq[ShardStatus],
    fetchedMillisBehindLatest: Seq[Long],
    openShards: Int,
    endedShards: Int,
    shardsByExecutor: Map[String, Int],
    totals: Map[String, Long],
    withheldRows: Option[Long]
)

/**
 * A snapshot of one shard, for metrics.
 *
 * @param millisBehindLatest
 *   how far the query is behind, in milliseconds: the age of the oldest record that no batch has taken or, if no record
 *   is buffered, how far fetching is behind
 * @param rate
 *   how fast it is fetched; empty before the first measurement
 */
final case class ShardStatus(shard: StreamShard, millisBehindLatest: Long, rate: Option[FetchRates])

private[coordinator] object CoordinatorStatus {
  def sum(a: Map[String, Long], b: Map[String, Long]): Map[String, Long] = (a.keySet ++ b.keySet).iterator.map(name =>
    name -> (a.getOrElse(name, 0L) + b.getOrElse(name, 0L))
  ).toMap
}
