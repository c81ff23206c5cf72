package org.sparkkinesis.sink.kinesis

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{ConnectorEvent, EventSink, ShardPaced, ShardRateCut, ShardUnpaced, WriteLimitChanged}
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.service.Operation
import org.sparkkinesis.sink.DeliveryProgress
import org.sparkkinesis.sink.kinesis.lane.ShardLanes
import org.sparkkinesis.sink.limit.shared.{LimitUsage, SharedLimits}
import org.sparkkinesis.sink.limit.{PacedLane, RateLimiting, RateLimitingContext, RateLimitingStrategy}

/**
 * State that the writers to one stream share in one process: rate limiting strategy, lanes of the shards, and the time
 * of the last accepted record.
 */
final class StreamLimits private[kinesis] (
    private[kinesis] val key: StreamLimitsKey,
    val strategy: RateLimitingStrategy,
    val lanes: ShardLanes,
    val sizes: MeanSize,
    val delivery: DeliveryProgress,
    usage: LimitUsage
) {

  /** Reports the changes of rates since the last call. Must be called without a lock. */
  def report(): Unit = usage.deliver()
}

final private[kinesis] case class StreamLimitsKey(stream: StreamIdentity, settings: KinesisSinkSettings)

/**
 * The limits of all streams in one process. They outlive the writers, so that each micro-batch starts with the rates of
 * the previous one. Changes of rates are reported to each query that uses the limits at that time. Thread-safe.
 */
final class SharedStreamLimits {
  private val limits = new SharedLimits[StreamLimitsKey, StreamLimits](SharedStreamLimits.create(_, _, _))

  /**
   * @param events
   *   receives changes of rates until `release`; equal receivers are told once
   * @param senders
   *   number of writers that write to the stream at the same time, in all processes
   * @throws IllegalArgumentException
   *   if the class of the strategy cannot be used
   */
  def acquire(
      stream: StreamIdentity,
      settings: KinesisSinkSettings,
      senders: Int,
      events: EventSink,
      scheduler: Scheduler
  ): StreamLimits = limits.acquire(StreamLimitsKey(stream, settings), senders, events, scheduler)

  def release(used: StreamLimits, events: EventSink, scheduler: Scheduler): Unit =
    limits.release(used.key, events, scheduler)
}

object SharedStreamLimits {

  /** The limits of this JVM. */
  val OfJvm = new SharedStreamLimits

  private def create(key: StreamLimitsKey, usage: LimitUsage, scheduler: Scheduler): StreamLimits = {
    val settings = key.settings
    // With aggregation, an entry of PutRecords contains many entries of the writer, so only bytes approach the limits
    // of a shard.
    val entriesPerSecond =
      if (settings.aggregated) Double.MaxValue / 1e9 else KinesisQuotas.Shard.WriteRecordsPerSecond.toDouble
    val bytesPerSecond = KinesisQuotas.Shard.WriteBytesPerSecond.toDouble
    val lanes = new ShardLanes(
      scheduler,
      settings.retries(Operation.ListShards),
      settings.rules,
      shard =>
        new PacedLane(
          entriesPerSecond,
          bytesPerSecond,
          scale => usage.events.emit(rateEvent(key.stream.arn, shard, scale))
        )
    )
    val sizes = new MeanSize
    val requests = settings.requestsFor(1)
    val context = new RateLimitingContext(
      requests.maxBatchSize,
      requests.maxInFlightRequests,
      () => lanes.openShards,
      () => if (settings.aggregated) sizes.perSecond else KinesisQuotas.Shard.WriteRecordsPerSecond,
      settings.rateLimitingParameters,
      () => usage.senders,
      (before, now) => usage.events.emit(WriteLimitChanged(key.stream.arn, before.round, now.round))
    )
    val strategy =
      RateLimiting.of(settings.rateLimiting).fold(why => throw new IllegalArgumentException(why), identity)
    new StreamLimits(key, strategy(context), lanes, sizes, new DeliveryProgress, usage)
  }

  /** The first throttling of a shard sets its lane to the documented rate. Later reductions start from there. */
  private def rateEvent(stream: String, shard: ShardId, scale: Double): ConnectorEvent =
    if (scale.isPosInfinity) ShardUnpaced(stream, shard)
    else if (scale == 1) ShardPaced(stream, shard)
    else ShardRateCut(stream, shard, scale)
}

/** Moving average of the sizes of records that are packed into aggregates. Thread-safe. */
final class MeanSize {
  import MeanSize._
  @volatile private var mean = 0.0

  def saw(bytes: Int): Unit = mean = if (mean == 0) bytes.toDouble else mean + (bytes - mean) * Weight

  /** Number of such records that a shard accepts per second: by its bytes, or by its records while no size is known. */
  def perSecond: Int =
    if (mean == 0) KinesisQuotas.Shard.WriteRecordsPerSecond
    else math.max(1, (KinesisQuotas.Shard.WriteBytesPerSecond / mean).toInt)
}

private object MeanSize {
  val Weight = 0.01
}
