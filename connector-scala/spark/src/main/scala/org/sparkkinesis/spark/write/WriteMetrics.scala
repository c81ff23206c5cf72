package org.sparkkinesis.spark.write

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import org.sparkkinesis.sink.kinesis.KinesisSinkMetrics
import org.sparkkinesis.spark.metric.{TaskMax, TaskMin, TaskSum, TaskValue}

/** One metric of the sink: its name, its description in the SQL tab, and its value. */
sealed trait WriteMetric extends CustomMetric {
  def of(written: WriteCounts): Long
}
sealed abstract class WriteSum(name: String, description: String) extends TaskSum(name, description) with WriteMetric
sealed abstract class WriteMax(name: String, description: String) extends TaskMax(name, description) with WriteMetric
sealed abstract class WriteMin(name: String, description: String) extends TaskMin(name, description) with WriteMetric

/** Spark creates these classes by name for the SQL tab, so each has an empty constructor. */
class RecordsOut extends WriteSum("recordsOut", "records written") {
  override def of(written: WriteCounts): Long = written.sink.requests.entriesOut
}
class BytesOut extends WriteSum("bytesOut", "bytes written (payload and key)") {
  override def of(written: WriteCounts): Long = written.sink.requests.bytesOut
}
class PutRequests extends WriteSum("putRecordsRequests", "PutRecords requests") {
  override def of(written: WriteCounts): Long = written.sink.requests.requests
}
class RecordsSent extends WriteSum("recordsSent", "records sent, including retries") {
  override def of(written: WriteCounts): Long = written.sink.requests.entriesSent
}
class RecordsThrottled extends WriteSum("recordsThrottled", "records that were throttled") {
  override def of(written: WriteCounts): Long = written.sink.requests.throttled
}
class RecordsRetried extends WriteSum("recordsRetried", "records sent again") {
  override def of(written: WriteCounts): Long = written.sink.requests.retried
}
class RequestsTimedOut extends WriteSum("requestsTimedOut", "requests without an answer in time") {
  override def of(written: WriteCounts): Long = written.sink.requests.timedOutRequests
}
class PossibleDuplicates
    extends WriteSum("possibleDuplicates", "records sent again that may have been stored before") {
  override def of(written: WriteCounts): Long = written.sink.requests.possibleDuplicates
}
class SendTime extends WriteSum("sendTimeMs", "time from request to answer, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.sendNanos / 1000000
}
class RestTime extends WriteSum("backoffTimeMs", "pause after failed records, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.restNanos / 1000000
}
class BlockedTime extends WriteSum("blockedTimeMs", "time that tasks waited for the stream (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.blockedNanos / 1000000
}
class InFlightRequests extends WriteSum("inFlightRequests", "requests without an answer now") {
  override def of(written: WriteCounts): Long = written.sink.requests.inFlightRequests.toLong
}
class RecordsBuffered extends WriteSum("recordsBuffered", "records in the buffer now") {
  override def of(written: WriteCounts): Long = written.sink.requests.bufferedEntries.toLong
}
class LaneWaitTime extends WriteSum("shardWaitTimeMs", "time that the limits of shards held records back (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.laneWaitNanos / 1000000
}
class LimitWaitTime extends WriteSum("rateLimitWaitTimeMs", "time that rate limiting held requests back (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.limitWaitNanos / 1000000
}
class PacedShards extends WriteMax("pacedShards", "shards with a rate because they were throttled, most of a task") {
  override def of(written: WriteCounts): Long = written.sink.pacedShards.toLong
}
class LowestShardRate extends WriteMin("lowestShardRate", "lowest rate of a shard (records/s), 0 without a rate") {
  override def of(written: WriteCounts): Long =
    if (written.sink.lowestShardRate.isInfinite) 0 else math.max(1, written.sink.lowestShardRate.toLong)
}
class BatchSizeInForce extends WriteMax("maxBatchSizeNow", "records per request that rate limiting allows") {
  override def of(written: WriteCounts): Long = written.sink.requests.maxBatchSize.toLong
}
class CurrentLimit
    extends WriteMax("currentLimit", "greatest limit of rate limiting of a task, in the unit of the strategy") {
  override def of(written: WriteCounts): Long = {
    val limit = written.sink.requests.currentLimit
    if (limit.isInfinite) 0 else limit.toLong
  }
}
class PutPayloadUnits extends WriteSum("putPayloadUnits", "PUT payload units of 25 KB (estimate)") {
  override def of(written: WriteCounts): Long = written.sink.payloadUnits
}
class StoredRecords extends WriteSum("kinesisRecords", "Kinesis records stored; an aggregate is one") {
  override def of(written: WriteCounts): Long = written.sink.recordsStored
}
class RowsDropped extends WriteSum("rowsDropped", "invalid rows dropped") {
  override def of(written: WriteCounts): Long = written.dropped
}
class RowsDeadLettered extends WriteSum("rowsDeadLettered", "invalid rows sent to the dead-letter stream or table") {
  override def of(written: WriteCounts): Long = written.deadLettered
}

/** The counts of one task or of a batch. */
final case class WriteCounts(
    sink: KinesisSinkMetrics = KinesisSinkMetrics(),
    dropped: Long = 0,
    deadLettered: Long = 0
) {
  def +(other: WriteCounts): WriteCounts =
    WriteCounts(sink + other.sink, dropped + other.dropped, deadLettered + other.deadLettered)

  def taskMetrics: Array[CustomTaskMetric] =
    WriteMetrics.all.map(metric => new TaskValue(metric.name, metric.of(this)): CustomTaskMetric).toArray
}

object WriteMetrics {
  val all: Seq[WriteMetric] = Seq(
    new RecordsOut,
    new BytesOut,
    new PutRequests,
    new RecordsSent,
    new RecordsThrottled,
    new RecordsRetried,
    new RequestsTimedOut,
    new PossibleDuplicates,
    new SendTime,
    new RestTime,
    new BlockedTime,
    new InFlightRequests,
    new RecordsBuffered,
    new LaneWaitTime,
    new LimitWaitTime,
    new PacedShards,
    new LowestShardRate,
    new BatchSizeInForce,
    new CurrentLimit,
    new PutPayloadUnits,
    new StoredRecords,
    new RowsDropped,
    new RowsDeadLettered
  )

  def supported: Array[CustomMetric] = all.toArray
}
