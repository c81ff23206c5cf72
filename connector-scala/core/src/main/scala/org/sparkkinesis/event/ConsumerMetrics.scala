package org.sparkkinesis.event

import java.util.concurrent.atomic.LongAdder

/** What the consumers of one source in one JVM have done since they began; only ever growing. Thread-safe. */
final class ConsumerMetrics {
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
