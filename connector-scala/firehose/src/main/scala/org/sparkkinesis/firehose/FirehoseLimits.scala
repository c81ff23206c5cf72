package org.sparkkinesis.firehose

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{EventSink, WriteLimitChanged}
import org.sparkkinesis.model.FirehoseQuotas.Throughput
import org.sparkkinesis.sink.DeliveryProgress
import org.sparkkinesis.sink.limit.shared.{LimitUsage, SharedLimits}
import org.sparkkinesis.sink.limit.{RateLimiting, RateLimitingContext, RateLimitingStrategy}

/** State that the writers to one delivery stream share in one process. */
final class FirehoseLimit private[firehose] (val strategy: RateLimitingStrategy, usage: LimitUsage) {
  val delivery = new DeliveryProgress

  /** Reports the changes of the limit since the last call. Must be called without a lock. */
  def report(): Unit = usage.deliver()
}

/**
 * The rate limiting strategies of all delivery streams in one process. Only a call of the service would tell the
 * account of a delivery stream, so writers share a strategy only if they have the same credentials, region and
 * endpoint. Thread-safe.
 */
final class FirehoseLimits {
  import FirehoseLimits._

  private val limits = new SharedLimits[Key, FirehoseLimit]((key, usage, _) => create(key, usage))

  /**
   * Returns what the writers to a delivery stream share, until `release`.
   *
   * @param senders
   *   number of writers that write to the delivery stream at the same time, in all processes
   * @param events
   *   receives changes of the limit until `release`; equal receivers are told once
   * @throws IllegalArgumentException
   *   if the class of the strategy cannot be used
   */
  def acquire(plan: FirehosePlan, senders: Int, events: EventSink, scheduler: Scheduler): FirehoseLimit =
    limits.acquire(keyOf(plan), senders, events, scheduler)

  def release(plan: FirehosePlan, events: EventSink, scheduler: Scheduler): Unit =
    limits.release(keyOf(plan), events, scheduler)
}

object FirehoseLimits {

  /** The limits of this JVM. */
  val OfJvm = new FirehoseLimits

  final private case class Key(stream: String, connection: ClientSettings, settings: FirehoseSinkSettings)

  private def keyOf(plan: FirehosePlan): Key = Key(plan.stream, plan.connection, plan.settings)

  private def create(key: Key, usage: LimitUsage): FirehoseLimit = {
    val settings = key.settings
    val region =
      key.connection.region.getOrElse(throw new IllegalStateException("the driver has not resolved the region"))
    val context = new RateLimitingContext(
      settings.requests.maxBatchSize,
      settings.requests.maxInFlightRequests,
      partitions = () => 1,
      perPartition = () => Throughput.of(region).recordsPerSecond,
      parameters = settings.rateLimitingParameters,
      senders = () => usage.senders,
      (before, now) => usage.events.emit(WriteLimitChanged(key.stream, before.round, now.round))
    )
    val strategy =
      RateLimiting.of(settings.rateLimiting).fold(why => throw new IllegalArgumentException(why), identity)
    new FirehoseLimit(strategy(context), usage)
  }
}
