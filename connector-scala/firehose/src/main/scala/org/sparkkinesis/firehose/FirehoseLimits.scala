package org.sparkkinesis.firehose

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Shared
import org.sparkkinesis.model.FirehoseQuotas.Throughput
import org.sparkkinesis.sink.limit.{RateLimiting, RateLimitingContext, RateLimitingStrategy}

/** State that the writers to one delivery stream share in one process. */
final class FirehoseLimits private (val strategy: RateLimitingStrategy, private val senders: AtomicInteger)

/**
 * The limits of all delivery streams in one process. They outlive the writers, so that each micro-batch starts with the
 * rate of the previous one. Thread-safe.
 */
object FirehoseLimits {
  private val IdleTime = 10.minutes

  final private case class Key(stream: String, region: String, endpoint: String, settings: FirehoseSinkSettings)

  private val limits = new Shared[Key, FirehoseLimits](create, _ => (), IdleTime, Shared.onTimer)

  /**
   * @param senders
   *   number of writers that write to the delivery stream at the same time, in all processes
   * @throws IllegalArgumentException
   *   if the class of the strategy cannot be used
   */
  def acquire(plan: FirehosePlan, senders: Int): Shared.Hold[FirehoseLimits] = {
    val where = plan.connection
    val held = limits.acquire(
      Key(plan.stream, where.region.getOrElse(""), where.endpoint.getOrElse(""), plan.settings)
    )
    held.value.senders.set(senders)
    held
  }

  private def create(key: Key): FirehoseLimits = {
    val senders = new AtomicInteger(1)
    val settings = key.settings
    val context = new RateLimitingContext(
      settings.requests.maxBatchSize,
      settings.requests.maxInFlightRequests,
      partitions = () => 1,
      perPartition = () => Throughput.of(key.region).recordsPerSecond,
      parameters = settings.rateLimitingParameters,
      senders = () => senders.get
    )
    val strategy =
      RateLimiting.of(settings.rateLimiting).fold(why => throw new IllegalArgumentException(why), identity)
    new FirehoseLimits(strategy(context), senders)
  }
}
