package org.sparkkinesis.event

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.jdk.CollectionConverters._

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.service.Operation

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

  private val throttledCalls = new ConcurrentHashMap[(String, Option[ShardId], Operation), LongAdder]

  /** Factors by which polling of shards is slowed down, without those of 1. */
  private val slowdowns = new ConcurrentHashMap[StreamShard, Double]

  /** Records the factor by which polling of a shard is slower than its quota allows. */
  def polled(shard: StreamShard, slowdown: Double): Unit = {
    // Most shards are not slowed down, and have no entry.
    if (slowdown > 1) slowdowns.put(shard, slowdown) else if (!slowdowns.isEmpty) slowdowns.remove(shard)
    ()
  }

  /** Removes the factor of a shard that is not polled any more. */
  def left(shard: StreamShard): Unit = polled(shard, 1)

  override def emit(event: ConnectorEvent): Unit = event match {
    case _: IteratorRequested => getShardIteratorCalls.increment()
    case _: IteratorRenewed => iteratorRenewals.increment()
    case _: SubscriptionRequested => subscribeToShardCalls.increment()
    case _: SubscriptionRenewed => resubscriptions.increment()
    case _: SubscriptionLost =>
      resubscriptions.increment()
      retries.increment()
    case CallThrottled(stream, shard, operation) =>
      throttles.increment()
      throttledCalls.computeIfAbsent((stream, shard, operation), _ => new LongAdder).increment()
    case _: CallRetried => retries.increment()
    case _ => ()
  }

  /** Returns the shards and operations with the most throttled calls. */
  def mostThrottled: Seq[ThrottledCalls] =
    throttledCalls.asScala.iterator.map { case ((stream, shard, operation), calls) =>
      ThrottledCalls(stream, shard, operation, calls.sum)
    }.toVector.sortBy(-_.calls).take(ConsumerHealth.MaxThrottled)

  /** Returns the greatest factor by which polling is slowed down; 1 if it is not. */
  def pollingSlowdown: Double = slowdowns.values.asScala.foldLeft(1.0)(math.max)

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
