package org.sparkkinesis.spark.write

import org.sparkkinesis.spark.sink.{SinkKind, WriteCounts, WriteMax, WriteMetric, WriteMetrics, WriteMin, WriteSum}

/** Spark creates these classes by name for the SQL tab, so each has an empty constructor. */
class PutRequests extends WriteSum("putRecordsRequests", "PutRecords requests") {
  override def of(written: WriteCounts): Long = written.requests.requests
}
class LaneWaitTime extends WriteSum("shardWaitTimeMs", "time that the limits of shards held records back (ms)") {
  override def of(written: WriteCounts): Long = written.requests.laneWaitNanos / 1000000
}
class PacedShards extends WriteMax("pacedShards", "shards with a rate because they were throttled, most of a task") {
  override def of(written: WriteCounts): Long = written.shards.pacedShards.toLong
}
class LowestShardRate extends WriteMin("lowestShardRate", "lowest rate of a shard (records/s), 0 without a rate") {
  override def of(written: WriteCounts): Long = written.shards.lowestShardRate
}
class PutPayloadUnits extends WriteSum("putPayloadUnits", "PUT payload units of 25 KB (estimate)") {
  override def of(written: WriteCounts): Long = written.shards.payloadUnits
}
class StoredRecords extends WriteSum("kinesisRecords", "Kinesis records stored; an aggregate is one") {
  override def of(written: WriteCounts): Long = written.shards.recordsStored
}

class ReroutedRecords
    extends WriteSum("reroutedRecords", "records taken back from a failed stream and written to another one") {
  override def of(written: WriteCounts): Long = written.rerouted
}

/** The sink for Kinesis Data Streams. */
object KinesisSink extends SinkKind("kinesis") {
  private val payloadUnits = new PutPayloadUnits

  override val metrics: Seq[WriteMetric] = WriteMetrics.common ++ Seq(
    new PutRequests,
    new LaneWaitTime,
    new PacedShards,
    new LowestShardRate,
    payloadUnits,
    new StoredRecords,
    new ReroutedRecords
  )

  override def totals: Seq[WriteMetric] = super.totals :+ payloadUnits
}
