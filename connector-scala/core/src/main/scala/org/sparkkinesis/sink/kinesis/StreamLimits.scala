package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Shared
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.event.{ConnectorEvent, ShardPaced, ShardRateCut, ShardUnpaced}
import org.sparkkinesis.model.{KinesisQuotas, ShardId}
import org.sparkkinesis.sink.kinesis.lane.ShardLanes
import org.sparkkinesis.sink.limit.{PacedLane, RateLimiting, RateLimitingContext, RateLimitingStrategy}

/** What the writers to one stream in this JVM share: the strategy's state and the shards' lanes. */
final class StreamLimits private (val strategy: RateLimitingStrategy, val lanes: ShardLanes)

/** The JVM's limits by stream. They outlive the writers, so that a micro-batch begins where the last one ended. Thread-safe. */
object StreamLimits {

  /**
   * @param where
   *   tells streams of the same name apart: endpoint and region
   */
  final case class Key(stream: String, where: String, settings: KinesisSinkSettings)

  /** What nobody has used for so long is forgotten. */
  private val IdleTime = 10.minutes

  /** Queries share the limits, so their events name no query. */
  private val events = new EventLog(QueryContext.Unknown)

  private val limits = new Shared[Key, StreamLimits](create, _ => (), IdleTime, Shared.onTimer)

  /** @throws IllegalArgumentException when the strategy's class cannot be used */
  def acquire(key: Key): Shared.Hold[StreamLimits] = limits.acquire(key)

  private def create(key: Key): StreamLimits = {
    // An aggregate holds many entries of the writer, and only its bytes come near a shard's limits.
    val entriesPerSecond =
      if (key.settings.aggregated) Double.MaxValue / 1e9 else KinesisQuotas.Shard.WriteRecordsPerSecond.toDouble
    val lanes = new ShardLanes(shard =>
      new PacedLane(
        entriesPerSecond,
        KinesisQuotas.Shard.WriteBytesPerSecond.toDouble,
        scale => events.emit(rateEvent(key.stream, shard, scale))
      )
    )
    val requests = key.settings.requestsFor(1)
    val context = RateLimitingContext(
      requests.maxBatchSize,
      requests.maxInFlightRequests,
      () => lanes.openShards,
      KinesisQuotas.Shard.WriteRecordsPerSecond
    )
    val strategy =
      RateLimiting.of(key.settings.rateLimiting).fold(why => throw new IllegalArgumentException(why), identity)
    new StreamLimits(strategy(context), lanes)
  }

  /** The first time that its shard throttles, a lane is set to the documented rate; later cuts follow from there. */
  private def rateEvent(stream: String, shard: ShardId, scale: Double): ConnectorEvent =
    if (scale.isPosInfinity) ShardUnpaced(stream, shard)
    else if (scale == 1) ShardPaced(stream, shard)
    else ShardRateCut(stream, shard, scale)
}
