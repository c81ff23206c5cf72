package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.PacedLane._

/**
 * A lane without a limit until it is throttled, and then with the rate that the destination accepts.
 *
 * The rate is a multiple (`scale`) of the documented capacity of the lane, in entries and bytes. The first throttling
 * sets it to 1. A later one, after at least one second of measurement, reduces it to the recently accepted rate. It
 * then grows along a cubic curve: quickly towards its last good value, slowly around that value, and increasingly fast
 * beyond it while nothing is throttled. After a period without throttling the lane has no limit again. Shared by all
 * writers of the JVM.
 *
 * @param onChange
 *   receives the new scale when it is reduced, and infinity when the limit is removed; must not block
 */
final class PacedLane(entriesPerSecond: Double, bytesPerSecond: Double, onChange: Double => Unit = _ => ())
    extends Lane {
  @volatile private var scale = Double.PositiveInfinity
  private var entryTokens = 0.0
  private var byteTokens = 0.0
  private var refilledAt = 0L
  private var throttledAt = 0L
  private var loweredAt = 0L
  private var grownAt = 0L
  private var wanted = false

  /** The value at which the curve is flat, and the time that the lane has followed the curve. */
  private var peak = 1.0
  private var climbedNanos = 0L

  /**
   * Average share of a documented second that an entry takes, and the entries accepted and throttled in the current
   * window.
   */
  private var meanCost = cost(0)
  private var accepted = 0L
  private var refused = 0L
  private var windowFrom = 0L
  private var lastAccepted: Option[Double] = None

  /** Whether a window has ended since the first throttling. Until then, throttling is caused by the burst before it. */
  private var measured = false

  /** The current rate as a multiple of the documented one; infinite without a limit. */
  def currentScale: Double = scale

  override def tryTake(size: Int, nowNanos: Long): Boolean = scale.isPosInfinity || synchronized {
    refill(nowNanos)
    if (scale.isPosInfinity) true
    else if (entryTokens > 0 && byteTokens > 0) {
      // The balance may become negative, because an entry may be larger than the largest balance.
      entryTokens -= 1
      byteTokens -= size
      meanCost += (cost(size) - meanCost) * CostWeight
      true
    } else {
      wanted = true
      false
    }
  }

  override def readyAtNanos(nowNanos: Long): Long = synchronized {
    if (scale.isPosInfinity) nowNanos
    else {
      refill(nowNanos)
      val quantum = Quantum.toNanos / 1e9
      val entries = (entriesPerSecond * scale * quantum - entryTokens) / (entriesPerSecond * scale)
      val bytes = (bytesPerSecond * scale * quantum - byteTokens) / (bytesPerSecond * scale)
      nowNanos + math.max(MinWait.toNanos, (math.max(entries, bytes) * 1e9).toLong)
    }
  }

  override def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean = {
    if (throttled > 0 || !scale.isPosInfinity) synchronized {
      observe(accepted, throttled, sentAtNanos, nowNanos)
      if (throttled > 0) lower(sentAtNanos, nowNanos) else grow(nowNanos)
    }
    true
  }

  private def lower(sentAt: Long, now: Long): Unit = {
    throttledAt = now
    if (scale.isPosInfinity) {
      entryTokens = 0
      byteTokens = 0
      refilledAt = now
      accepted = 0
      refused = 0
      windowFrom = now
      lastAccepted = None
      measured = false
      set(1, now)
    } else if (measured && sentAt - loweredAt >= 0) {
      refill(now)
      // A lane that was idle for a while, for example waiting for a CPU, accepted few entries, which is no measure of
      // its capacity.
      val share = scale * accepted / (accepted + refused)
      val taken = lastAccepted.fold(share)(math.max(share, _))
      set(math.max(MinScale, math.max(scale * GreatestCut, math.min(scale * SmallestCut, taken))), now)
    }
  }

  private def observe(taken: Int, throttled: Int, sentAt: Long, now: Long): Unit = {
    val elapsed = now - windowFrom
    if (elapsed >= Window.toNanos) {
      // In a longer window the lane was not at its limit.
      measured = true
      lastAccepted = Option.when(elapsed < 2 * Window.toNanos)(accepted * meanCost / (elapsed / 1e9))
      accepted = 0
      refused = 0
      windowFrom = now
    }
    accepted += taken
    // Entries that were sent at an earlier rate do not count for the current rate.
    if (sentAt - loweredAt >= 0) refused += throttled
  }

  private def cost(size: Int): Double = math.max(1 / entriesPerSecond, size / bytesPerSecond)

  private def set(value: Double, now: Long): Unit = {
    scale = value
    peak = value / SmallestCut
    climbedNanos = 0
    loweredAt = now
    grownAt = now
    onChange(value)
  }

  private def grow(now: Long): Unit = {
    if (now - throttledAt > FreeAfter.toNanos) {
      scale = Double.PositiveInfinity
      onChange(scale)
    } else if (wanted) {
      refill(now)
      climbedNanos += math.min(now - grownAt, LongestStep.toNanos)
      val climbed = peak * (1 + Steepness * math.pow(climbedNanos / 1e9 - SecondsToPeak, 3))
      if (scale < 1 && climbed > 1) {
        // The documented capacity is the most likely one, so the curve is flat there after any reduction.
        peak = 1
        climbedNanos = (SecondsToPeak * 1e9).toLong
        scale = 1
      } else scale = climbed
      wanted = false
    }
    grownAt = now
  }

  private def refill(now: Long): Unit = if (now - refilledAt > 0) {
    val seconds = (now - refilledAt) / 1e9
    val saved = Saved.toNanos / 1e9
    entryTokens = math.min(entriesPerSecond * scale * saved, entryTokens + entriesPerSecond * scale * seconds)
    byteTokens = math.min(bytesPerSecond * scale * saved, byteTokens + bytesPerSecond * scale * seconds)
    refilledAt = now
  }
}

/**
 * Own constants, with which an overloaded lane stays within 5 % of its capacity with less than 5 % of its entries
 * throttled, and detects a fivefold capacity within 30 seconds.
 */
object PacedLane {
  val SmallestCut: Double = 0.97
  val GreatestCut: Double = 0.7
  val MinScale: Double = 0.01

  /**
   * Two seconds after its flat point the curve is 2 % above it, after five seconds 31 %, after ten seconds 3.5 times as
   * high.
   */
  val Steepness: Double = 0.0025
  private val SecondsToPeak = math.cbrt((1 - SmallestCut) / Steepness)

  /** Time without a response, or without waiting entries, does not advance the curve. */
  val LongestStep: FiniteDuration = 250.millis

  /** Duration of a measurement. */
  val Window: FiniteDuration = 1.second
  private val CostWeight = 0.01

  /** The limit is removed after this time without throttling. */
  val FreeAfter: FiniteDuration = 30.seconds

  /** A waiting lane releases entries for this time at once, so that requests are few. */
  val Quantum: FiniteDuration = 50.millis

  /** Maximum unused capacity that a lane accumulates. */
  val Saved: FiniteDuration = 100.millis
  val MinWait: FiniteDuration = 1.milli
}
