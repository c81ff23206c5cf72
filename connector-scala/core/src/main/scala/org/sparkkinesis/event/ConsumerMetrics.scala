package org.sparkkinesis.event

import java.util.concurrent.atomic.LongAdder

/**
 * Counts what the consumers of one source in one JVM have done since they began; counts only grow. Thread-safe.
 *
 * Changes of state are counted from events. What happens with every record or fetch is counted by the caller, since an
 * event for each would cost too much.
 */
final class ConsumerMetrics extends EventSink {
  val getRecordsCalls = new LongAdder
  val getShardIteratorCalls = new LongAdder
  val subscribeToShardCalls = new LongAdder

  /** Subscriptions opened again after an orderly end or a failure. */
  val resubscriptions = new LongAdder
  val iteratorRenewals = new LongAdder
  val throttles = new LongAdder
  val retries = new LongAdder

  /** Records as the service delivers them, and their payload and keys. */
  val records = new LongAdder
  val bytes = new LongAdder

  /** User records, after de-aggregation. */
  val rows = new LongAdder
  val aggregatedRecords = new LongAdder

  /** User records outside the shard's hash key range, dropped by `deaggregation.hashRangeFilter`. */
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
