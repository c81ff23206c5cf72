package org.sparkkinesis.sink.kinesis

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.sink.SinkMetrics

/** The metrics of a writer to Kinesis: those of every destination, and those of its shards. */
final case class KinesisSinkMetrics(requests: SinkMetrics = SinkMetrics(), shards: ShardCounts = ShardCounts()) {

  /** Metrics of a closed sink: its counters without its current state. */
  def ended: KinesisSinkMetrics = KinesisSinkMetrics(requests.ended, shards.ended)

  def +(other: KinesisSinkMetrics): KinesisSinkMetrics =
    KinesisSinkMetrics(requests + other.requests, shards + other.shards)
}

/**
 * Counters and current state that only a destination with shards has.
 *
 * @param recordsStored
 *   stored Kinesis records; an aggregate counts as one
 * @param payloadUnits
 *   PUT payload units, see [[org.sparkkinesis.sink.kinesis.put.PutCounts]]
 * @param pacedShards
 *   number of shards that have a rate now because they were throttled
 * @param slowestShards
 *   the shards with the lowest rates, slowest first, at most [[ShardCounts.Slowest]]
 */
final case class ShardCounts(
    recordsStored: Long = 0,
    payloadUnits: Long = 0,
    pacedShards: Int = 0,
    slowestShards: Seq[PacedRate] = Nil
) {

  /** Lowest rate of a shard in records per second; 0 if no shard has one. */
  def lowestShardRate: Long = slowestShards.headOption.fold(0L)(_.shown)

  /** Counts of a closed writer: its counters without its current state. */
  def ended: ShardCounts = copy(pacedShards = 0, slowestShards = Nil)

  def +(other: ShardCounts): ShardCounts = ShardCounts(
    recordsStored + other.recordsStored,
    payloadUnits + other.payloadUnits,
    // The sinks of one stream in one process share its lanes.
    math.max(pacedShards, other.pacedShards),
    ShardCounts.slowest(slowestShards ++ other.slowestShards)
  )
}

object ShardCounts {

  /** Number of shards in `slowestShards`. */
  val Slowest = 5

  /** Returns the slowest shards, each with its lowest rate: processes have rates of their own for one shard. */
  def slowest(rates: Seq[PacedRate]): Seq[PacedRate] =
    if (rates.isEmpty) Nil
    else rates.sorted(bySpeed).distinctBy(_.shard).take(Slowest)

  /** Spark asks for metrics every hundred rows, so this creates no objects. */
  private val bySpeed: Ordering[PacedRate] = (one, other) => {
    val byRate = java.lang.Double.compare(one.recordsPerSecond, other.recordsPerSecond)
    if (byRate != 0) byRate
    else {
      val byShard = one.shard.shard.value.compareTo(other.shard.shard.value)
      if (byShard != 0) byShard else one.shard.stream.compareTo(other.shard.stream)
    }
  }
}

/** The rate at which a process sends to a shard that was throttled. */
final case class PacedRate(shard: StreamShard, recordsPerSecond: Double) {

  /** The rate as metrics show it: at least 1, because 0 means no rate. */
  def shown: Long = math.max(1, recordsPerSecond.toLong)
}
