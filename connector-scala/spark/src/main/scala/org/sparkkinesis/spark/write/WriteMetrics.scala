package org.sparkkinesis.spark.write

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import org.sparkkinesis.sink.kinesis.KinesisSinkMetrics
import org.sparkkinesis.spark.metric.{TaskSum, TaskValue}

/** One metric of the sink: its name, its description in the SQL tab, and its value. */
sealed abstract class WriteMetric(name: String, description: String) extends TaskSum(name, description) {
  def of(written: WriteCounts): Long
}

/** Spark creates these classes by name for the SQL tab, so each has an empty constructor. */
class RecordsOut extends WriteMetric("recordsOut", "records written") {
  override def of(written: WriteCounts): Long = written.sink.requests.entriesOut
}
class BytesOut extends WriteMetric("bytesOut", "bytes written (payload and key)") {
  override def of(written: WriteCounts): Long = written.sink.requests.bytesOut
}
class PutRequests extends WriteMetric("putRecordsRequests", "PutRecords requests") {
  override def of(written: WriteCounts): Long = written.sink.requests.requests
}
class RecordsSent extends WriteMetric("recordsSent", "records sent, including retries") {
  override def of(written: WriteCounts): Long = written.sink.requests.entriesSent
}
class RecordsThrottled extends WriteMetric("recordsThrottled", "records that were throttled") {
  override def of(written: WriteCounts): Long = written.sink.requests.throttled
}
class RecordsRetried extends WriteMetric("recordsRetried", "records sent again") {
  override def of(written: WriteCounts): Long = written.sink.requests.retried
}
class RequestsTimedOut extends WriteMetric("requestsTimedOut", "requests without an answer in time") {
  override def of(written: WriteCounts): Long = written.sink.requests.timedOutRequests
}
class PossibleDuplicates
    extends WriteMetric("possibleDuplicates", "records sent again that may have been stored before") {
  override def of(written: WriteCounts): Long = written.sink.requests.possibleDuplicates
}
class SendTime extends WriteMetric("sendTimeMs", "time from request to answer, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.sendNanos / 1000000
}
class RestTime extends WriteMetric("backoffTimeMs", "pause after failed records, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.restNanos / 1000000
}
class BlockedTime extends WriteMetric("blockedTimeMs", "time that tasks waited for the stream (ms)") {
  override def of(written: WriteCounts): Long = written.sink.requests.blockedNanos / 1000000
}
class InFlightRequests extends WriteMetric("inFlightRequests", "requests without an answer now") {
  override def of(written: WriteCounts): Long = written.sink.requests.inFlightRequests.toLong
}
class RecordsBuffered extends WriteMetric("recordsBuffered", "records in the buffer now") {
  override def of(written: WriteCounts): Long = written.sink.requests.bufferedEntries.toLong
}
class CurrentLimit extends WriteMetric("currentLimit", "current limit of rate limiting, in the unit of the strategy") {
  override def of(written: WriteCounts): Long = {
    val limit = written.sink.requests.currentLimit
    if (limit.isInfinite) 0 else limit.toLong
  }
}
class PutPayloadUnits extends WriteMetric("putPayloadUnits", "PUT payload units of 25 KB (estimate)") {
  override def of(written: WriteCounts): Long = written.sink.payloadUnits
}
class StoredRecords extends WriteMetric("kinesisRecords", "Kinesis records stored; an aggregate is one") {
  override def of(written: WriteCounts): Long = written.sink.recordsStored
}
class RowsDropped extends WriteMetric("rowsDropped", "invalid rows dropped") {
  override def of(written: WriteCounts): Long = written.dropped
}
class RowsDeadLettered extends WriteMetric("rowsDeadLettered", "invalid rows sent to the dead-letter stream or table") {
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
    new CurrentLimit,
    new PutPayloadUnits,
    new StoredRecords,
    new RowsDropped,
    new RowsDeadLettered
  )

  def supported: Array[CustomMetric] = all.toArray
}
