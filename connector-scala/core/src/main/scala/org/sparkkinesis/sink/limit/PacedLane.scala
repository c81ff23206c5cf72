package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.PacedLane._

/**
 * A lane that sends as it likes until it is throttled, and from then on at the rate that the destination takes.
 *
 * The rate is a multiple (`scale`) of the lane's documented capacity, in entries and in bytes. The first refusal sets it
 * to 1. A further one, once a second of it was measured, cuts it to what was accepted of late; then it climbs back as a cubic curve does: soon near its last good
 * value, long about there, and faster and faster beyond when nothing is refused. After a long quiet time the lane is
 * free again. Shared by all writers of the JVM.
 *
 * @param onChange
 *   is told the new rate when it is cut, and infinity when the lane is free again; must not block
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

  /** The value that the curve is flat at, and for how long the lane has climbed on it. */
  private var peak = 1.0
  private var climbedNanos = 0L

  /** What an entry takes of the lane's documented second, as a mean; and how many were accepted and refused in the present window. */
  private var meanCost = cost(0)
  private var accepted = 0L
  private var refused = 0L
  private var windowFrom = 0L
  private var lastAccepted: Option[Double] = None

  /** Whether a window has ended since the first refusal. Until then refusals tell of the burst before it, not of the rate. */
  private var measured = false

  /** The present rate as a multiple of the documented one; infinite while the lane is free. */
  def currentScale: Double = scale

  override def tryTake(size: Int, nowNanos: Long): Boolean = scale.isPosInfinity || synchronized {
    refill(nowNanos)
    if (scale.isPosInfinity) true
    else if (entryTokens > 0 && byteTokens > 0) {
      // Down into debt if need be: an entry may be larger than what the lane saves up.
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
      // A lane that stood still for a while, waiting for a processor say, had little accepted: that is no measure of what it may send.
      val share = scale * accepted / (accepted + refused)
      val taken = lastAccepted.fold(share)(math.max(share, _))
      set(math.max(MinScale, math.max(scale * GreatestCut, math.min(scale * SmallestCut, taken))), now)
    }
  }

  private def observe(taken: Int, throttled: Int, sentAt: Long, now: Long): Unit = {
    val elapsed = now - windowFrom
    if (elapsed >= Window.toNanos) {
      // Over a longer time the lane was not at its limit.
      measured = true
      lastAccepted = Option.when(elapsed < 2 * Window.toNanos)(accepted * meanCost / (elapsed / 1e9))
      accepted = 0
      refused = 0
      windowFrom = now
    }
    accepted += taken
    // What was sent at a rate that was left says nothing of the present one.
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
        // The documented capacity is the likeliest one: flat there, whatever the lane was cut to.
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
 * Constants of our own, chosen so that a lane that is offered too much keeps within 5 % of its capacity with under 5 %
 * refused, and finds a capacity that has grown fivefold within 30 seconds.
 */
object PacedLane {
  val SmallestCut: Double = 0.97
  val GreatestCut: Double = 0.7
  val MinScale: Double = 0.01

  /** Two seconds past its peak the curve is 2 % above it, five seconds past 31 %, ten seconds past at 3.5 times. */
  val Steepness: Double = 0.0025
  private val SecondsToPeak = math.cbrt((1 - SmallestCut) / Steepness)

  /** Time without an answer, or without entries that want to go, is not climbed. */
  val LongestStep: FiniteDuration = 250.millis

  /** Over this time it is measured what the lane takes. */
  val Window: FiniteDuration = 1.second
  private val CostWeight = 0.01

  /** A lane that was not refused for so long is free again. */
  val FreeAfter: FiniteDuration = 30.seconds

  /** A waiting lane sends this much at a time, so that requests are few. */
  val Quantum: FiniteDuration = 50.millis

  /** Unused rate that a lane may save up. */
  val Saved: FiniteDuration = 100.millis
  val MinWait: FiniteDuration = 1.milli
}
