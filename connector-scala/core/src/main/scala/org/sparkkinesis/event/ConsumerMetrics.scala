package org.sparkkinesis.event

import java.util.concurrent.atomic.LongAdder

/**
 * Counters of the consumers of one source in one JVM since they started. They only grow. Thread-safe.
 *
 * State changes are counted from events. Callers count records and fetches directly, because an event for each would be
 * too expensive.
 */
final class ConsumerMetrics extends EventSink {
  val getRecordsCalls = new LongAdder
  val getShardIteratorCalls = new LongAdder
  val subscribeToShardCalls = new LongAdder

  /** Subscriptions that were opened again after completion or a failure. */
  val resubscriptions = new LongAdder
  val iteratorRenewals = new LongAdder
  val throttles = new LongAdder
  val retries = new LongAdder

  /** Number of Kinesis records, and bytes of their payloads and keys. */
  val records = new LongAdder
  val bytes = new LongAdder

  /** User records, after de-aggregation. */
  val rows = new LongAdder
  val aggregatedRecords = new LongAdder

  /** User records outside the hash key range of the shard, which `deaggregation.hashRangeFilter` dropped. */
  val filteredRows = new LongAdder

  override def emit(event: ConnectorEvent): Unit = event match {
    case _: IteratorRequested => getShardIteratorCalls.increment()
    case _: IteratorRenewed => iteratorRenewals.increment()
    case _: SubscriptionRequested => subscribeToShardCalls.increment()
    case _: SubscriptionRenewed => resubscriptions.increment()
    case _: SubscriptionLost =>
      resubscriptions.increment()
      retries.increment()
    case _: CallThrottled => throttles.increment()
    case _: CallRetried => retries.increment()
    case _ => ()
  }

  def snapshot: Map[String, Long] = Map(
    "getRecordsCalls" -> getRecordsCalls.sum,
    "getShardIteratorCalls" -> getShardIteratorCalls.sum,
    "subscribeToShardCalls" -> subscribeToShardCalls.sum,
    "resubscriptions" -> resubscriptions.sum,
    "iteratorRenewals" -> iteratorRenewals.sum,
    "throttles" -> throttles.sum,
    "retries" -> retries.sum,
    "records" -> records.sum,
    "bytes" -> bytes.sum,
    "rows" -> rows.sum,
    "aggregatedRecords" -> aggregatedRecords.sum,
    "filteredRows" -> filteredRows.sum
  )
}
