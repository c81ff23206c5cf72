package org.sparkkinesis.simulation.write.schedule

import scala.util.Random

import org.sparkkinesis.sink.limit._

/** A custom rate limiting strategy of which some calls throw an exception. */
final class UnreliableStrategy(context: RateLimitingContext) extends RateLimitingStrategy {
  private val behind = new AimdRateLimiting(context)
  private val faults = StrategyFaults.ofThread.get

  override def currentLimit: Double = behind.currentLimit

  override def open(): RateLimit = new RateLimit {
    private val access = behind.open()

    override def maxBatchSize: Int = access.maxBatchSize
    override def currentLimit: Double = access.currentLimit

    override def acquire(wanted: Int, nowNanos: Long): Permit = {
      faults.check("acquire")
      access.acquire(wanted, nowNanos)
    }

    override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = {
      access.settled(outcome, nowNanos)
      faults.check("settled")
    }

    override def close(): Unit = access.close()
  }
}

/** Decides when the strategies of one simulation throw. */
final class StrategyFaults(random: Random, now: () => Long) {
  private var oneOf = 0
  private var untilMillis = 0L
  private var thrown = 0

  /** The number of thrown exceptions. */
  def count: Int = thrown

  def begin(oneOf: Int, untilMillis: Long): Unit = {
    this.oneOf = oneOf
    this.untilMillis = untilMillis
  }

  def end(): Unit = untilMillis = 0

  def check(method: String): Unit = if (now() < untilMillis && random.nextInt(oneOf) == 0) {
    thrown += 1
    throw new IllegalStateException(s"injected into $method")
  }
}

object StrategyFaults {

  /**
   * The failures of the simulation that runs on this thread, because the sink creates a strategy by its class name.
   */
  val ofThread = new ThreadLocal[StrategyFaults]
}
