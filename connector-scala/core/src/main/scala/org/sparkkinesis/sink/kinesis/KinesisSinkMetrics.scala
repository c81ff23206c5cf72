package org.sparkkinesis.sink.kinesis

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
 * @param lowestShardRate
 *   lowest rate of a shard in records per second; infinite if no shard has one
 */
final case class ShardCounts(
    recordsStored: Long = 0,
    payloadUnits: Long = 0,
    pacedShards: Int = 0,
    lowestShardRate: Double = Double.PositiveInfinity
) {

  /** Counts of a closed writer: its counters without its current state. */
  def ended: ShardCounts = copy(pacedShards = 0, lowestShardRate = Double.PositiveInfinity)

  def +(other: ShardCounts): ShardCounts = ShardCounts(
    recordsStored + other.recordsStored,
    payloadUnits + other.payloadUnits,
    // The sinks of one stream in one process share its lanes.
    math.max(pacedShards, other.pacedShards),
    math.min(lowestShardRate, other.lowestShardRate)
  )
}
