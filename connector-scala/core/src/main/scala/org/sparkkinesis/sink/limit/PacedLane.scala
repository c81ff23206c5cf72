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
 * Processes that share a lane of the destination get equal shares: the rate grows by the same amount in all of them,
 * and is reduced by a larger part where it is higher. Within a process, each writer has a [[LaneShare]].
 *
 * @param onChange
 *   receives the new scale when it is reduced, and infinity when the limit is removed. Called while locks of
 *   the lane and the writer are held, so it must not call other code.
 */
final class PacedLane(entriesPerSecond: Double, bytesPerSecond: Double, onChange: Double => Unit = _ => ())
    extends Lane {
  @volatile private var scale = Double.PositiveInfinity
  private val balance = new LaneBalance(entriesPerSecond, bytesPerSecond)
  private val own = open()
  private var throttledAt = 0L
  private var loweredAt = 0L
  private var grownAt = 0L
  private var wanted = false

  /** The value at which the curve is flat, and the time that the lane has followed the curve. */
  private var peak = 1.0
  private var climbedNanos = 0L
  private var secondsToPeak = 0.0

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

  /** Opens the access of one writer. The writers that wait for the lane get equal shares of its rate. */
  def open(): LaneShare = new LaneShare(this)

  override def tryTake(size: Int, nowNanos: Long): Boolean = own.tryTake(size, nowNanos)
  override def readyAtNanos(nowNanos: Long): Long = own.readyAtNanos(nowNanos)

  private[limit] def take(share: LaneShare, size: Int, nowNanos: Long): Boolean = scale.isPosInfinity || synchronized {
    if (scale.isPosInfinity) true
    else {
      balance.refill(scale, nowNanos)
      if (balance.take(share, size, nowNanos)) {
        meanCost += (cost(size) - meanCost) * CostWeight
        true
      } else {
        wanted = true
        false
      }
    }
  }

  private[limit] def readyAt(share: LaneShare, nowNanos: Long): Long = synchronized {
    if (scale.isPosInfinity) nowNanos
    else {
      balance.refill(scale, nowNanos)
      nowNanos + math.max(MinWait.toNanos, (balance.secondsToQuantum(share, scale) * 1e9).toLong)
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
      balance.clear(now)
      accepted = 0
      refused = 0
      windowFrom = now
      lastAccepted = None
      measured = false
      set(1, now)
    } else if (measured && sentAt - loweredAt >= BetweenCuts.toNanos) {
      balance.refill(scale, now)
      // A lane that was idle for a while, for example waiting for a CPU, accepted few entries, which is no measure of
      // its capacity.
      val share = scale * accepted / (accepted + refused)
      val taken = lastAccepted.fold(share)(math.max(share, _))
      set(math.max(MinScale, math.max(scale * GreatestCut, math.min(scale * smallestCut(scale), taken))), now)
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
    val before = if (scale.isPosInfinity) value else scale
    scale = value
    peak = value / smallestCut(before)
    secondsToPeak = math.cbrt((peak - value) / Steepness)
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
      balance.refill(scale, now)
      climbedNanos += math.min(now - grownAt, LongestStep.toNanos)
      val climbed = peak + Steepness * math.pow(climbedNanos / 1e9 - secondsToPeak, 3)
      if (scale < 1 && climbed > 1) {
        // The documented capacity is the most likely one, so the curve is flat there after any reduction.
        peak = 1
        climbedNanos = (secondsToPeak * 1e9).toLong
        scale = 1
      } else scale = math.max(scale, climbed)
      wanted = false
    }
    grownAt = now
  }
}

/**
 * Own constants, with which an overloaded lane stays within 5 % of its capacity with less than 5 % of its entries
 * throttled, detects a fivefold capacity within 30 seconds, and two processes have 40 to 60 % of it after 30 seconds.
 */
object PacedLane {

  /** A reduction takes at least this part of the rate, times the scale up to 1. */
  val CutPerScale: Double = 0.2
  val GreatestCut: Double = 0.7
  val MinScale: Double = 0.01

  /** Minimum time from a reduction to the sending of the entries that cause the next one. */
  val BetweenCuts: FiniteDuration = 500.millis

  /** Two seconds after its flat point the curve is 0.04 above it, after five seconds 0.6, after ten seconds 5. */
  val Steepness: Double = 0.005

  private def smallestCut(scale: Double): Double = 1 - CutPerScale * math.min(1, scale)

  /** Time without a response, or without waiting entries, does not advance the curve. */
  val LongestStep: FiniteDuration = 250.millis

  /** Duration of a measurement. */
  val Window: FiniteDuration = 1.second
  private val CostWeight = 0.01

  /** The limit is removed after this time without throttling. */
  val FreeAfter: FiniteDuration = 30.seconds
  val MinWait: FiniteDuration = 1.milli
}
