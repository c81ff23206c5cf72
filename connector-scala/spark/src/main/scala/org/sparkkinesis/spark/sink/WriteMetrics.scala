package org.sparkkinesis.spark.sink

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import org.sparkkinesis.metric.Sums
import org.sparkkinesis.sink.SinkMetrics
import org.sparkkinesis.sink.kinesis.ShardCounts
import org.sparkkinesis.sink.route.RouteCounts
import org.sparkkinesis.spark.metric.{TaskMax, TaskMin, TaskSum, TaskValue}

/** One metric of the sink: its name, its description in the SQL tab, and its value. */
trait WriteMetric extends CustomMetric {
  def of(written: WriteCounts): Long
}
abstract class WriteSum(name: String, description: String) extends TaskSum(name, description) with WriteMetric
abstract class WriteMax(name: String, description: String) extends TaskMax(name, description) with WriteMetric
abstract class WriteMin(name: String, description: String) extends TaskMin(name, description) with WriteMetric

/** Spark creates these classes by name for the SQL tab, so each has an empty constructor. */
class RecordsOut extends WriteSum("recordsOut", "records written") {
  override def of(written: WriteCounts): Long = written.requests.entriesOut
}
class BytesOut extends WriteSum("bytesOut", "bytes written, as the service counts them") {
  override def of(written: WriteCounts): Long = written.requests.bytesOut
}
class RecordsSent extends WriteSum("recordsSent", "records sent, including retries") {
  override def of(written: WriteCounts): Long = written.requests.entriesSent
}
class RecordsThrottled extends WriteSum("recordsThrottled", "records that were throttled") {
  override def of(written: WriteCounts): Long = written.requests.throttled
}
class RecordsRetried extends WriteSum("recordsRetried", "records sent again") {
  override def of(written: WriteCounts): Long = written.requests.retried
}
class RequestsTimedOut extends WriteSum("requestsTimedOut", "requests without an answer in time") {
  override def of(written: WriteCounts): Long = written.requests.timedOutRequests
}
class PossibleDuplicates
    extends WriteSum("possibleDuplicates", "records sent again that may have been stored before") {
  override def of(written: WriteCounts): Long = written.requests.possibleDuplicates
}
class SendTime extends WriteSum("sendTimeMs", "time from request to answer, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.requests.sendNanos / 1000000
}
class RestTime extends WriteSum("backoffTimeMs", "pause after failed records, summed over requests (ms)") {
  override def of(written: WriteCounts): Long = written.requests.restNanos / 1000000
}
class BlockedTime extends WriteSum("blockedTimeMs", "time that tasks waited for the stream (ms)") {
  override def of(written: WriteCounts): Long = written.requests.blockedNanos / 1000000
}
class InFlightRequests extends WriteSum("inFlightRequests", "requests without an answer now") {
  override def of(written: WriteCounts): Long = written.requests.inFlightRequests.toLong
}
class RecordsBuffered extends WriteSum("recordsBuffered", "records in the buffer now") {
  override def of(written: WriteCounts): Long = written.requests.bufferedEntries.toLong
}
class LimitWaitTime extends WriteSum("rateLimitWaitTimeMs", "time that rate limiting held requests back (ms)") {
  override def of(written: WriteCounts): Long = written.requests.limitWaitNanos / 1000000
}
class BatchSizeInForce extends WriteMax("maxBatchSizeNow", "records per request that rate limiting allows") {
  override def of(written: WriteCounts): Long = written.requests.maxBatchSize.toLong
}
class CurrentLimit
    extends WriteMax("currentLimit", "greatest limit of rate limiting of a task, in the unit of the strategy") {
  override def of(written: WriteCounts): Long = {
    val limit = written.requests.currentLimit
    if (limit.isInfinite) 0 else limit.toLong
  }
}
class RowsDropped extends WriteSum("rowsDropped", "invalid rows dropped") {
  override def of(written: WriteCounts): Long = written.dropped
}
class RowsDeadLettered extends WriteSum("rowsDeadLettered", "invalid rows sent to a dead-letter stream or table") {
  override def of(written: WriteCounts): Long = written.deadLettered
}

/**
 * The counts of one task or of a batch.
 *
 * @param shards
 *   counts of a destination with shards
 * @param rerouted
 *   records that were taken back from a failed stream and written to another one
 * @param streams
 *   counts of the physical streams of logical streams, by ARN
 */
final case class WriteCounts(
    requests: SinkMetrics = SinkMetrics(),
    dropped: Long = 0,
    deadLettered: Long = 0,
    shards: ShardCounts = ShardCounts(),
    rerouted: Long = 0,
    streams: Map[String, RouteCounts] = Map.empty
) {
  def +(other: WriteCounts): WriteCounts = WriteCounts(
    requests + other.requests,
    dropped + other.dropped,
    deadLettered + other.deadLettered,
    shards + other.shards,
    rerouted + other.rerouted,
    Sums.of(streams, other.streams)(_ + _)
  )

  /** Counts of a closed writer: its counters without its current state. */
  def ended: WriteCounts = copy(
    requests = requests.ended,
    shards = shards.ended,
    streams = streams.map { case (arn, counts) => arn -> counts.ended }
  )

  def values(metrics: Seq[WriteMetric]): Array[CustomTaskMetric] =
    metrics.map(metric => new TaskValue(metric.name, metric.of(this)): CustomTaskMetric).toArray
}

object WriteMetrics {

  /** The metrics of every sink. */
  val common: Seq[WriteMetric] = Seq(
    new RecordsOut,
    new BytesOut,
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
    new LimitWaitTime,
    new BatchSizeInForce,
    new CurrentLimit,
    new RowsDropped,
    new RowsDeadLettered
  )
}
