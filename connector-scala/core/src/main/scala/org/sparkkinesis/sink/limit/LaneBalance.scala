package org.sparkkinesis.sink.limit

import scala.concurrent.duration._

import org.sparkkinesis.sink.limit.LaneBalance._

/** The access of one writer to a [[PacedLane]], with its part of the rate. */
final class LaneShare private[limit] (lane: PacedLane) extends Lane {
  private[limit] val tokens = new Tokens
  private[limit] var seenAt = 0L

  override def tryTake(size: Int, nowNanos: Long): Boolean = lane.take(this, size, nowNanos)
  override def readyAtNanos(nowNanos: Long): Long = lane.readyAt(this, nowNanos)
  override def settled(accepted: Int, throttled: Int, sentAtNanos: Long, nowNanos: Long): Boolean =
    lane.settled(accepted, throttled, sentAtNanos, nowNanos)
}

/**
 * The rate at which the writers of one process may send to a lane now. Each active writer receives the same part of
 * the rate. What a writer does not use goes to a common balance, from which every writer may take. Not thread-safe; the
 * lane guards it.
 */
final private[limit] class LaneBalance(entriesPerSecond: Double, bytesPerSecond: Double) {
  private val common = new Tokens
  private var active = Vector.empty[LaneShare]
  private var refilledAt = 0L

  def clear(now: Long): Unit = {
    active = Vector.empty
    common.clear()
    refilledAt = now
  }

  def refill(scale: Double, now: Long): Unit = if (now - refilledAt > 0) {
    val seconds = (now - refilledAt) / 1e9
    val saved = Saved.toNanos / 1e9 / 2
    val (stay, leave) = active.partition(share => now - share.seenAt < ActiveFor.toNanos)
    leave.foreach(share => common.moveFrom(share.tokens))
    active = stay
    if (active.isEmpty) common.add(entriesPerSecond * scale * seconds, bytesPerSecond * scale * seconds)
    else {
      val entries = entriesPerSecond * scale / active.size
      val bytes = bytesPerSecond * scale / active.size
      active.foreach { share =>
        share.tokens.add(entries * seconds, bytes * seconds)
        common.moveAbove(share.tokens, entries * saved, bytes * saved)
      }
    }
    common.limit(entriesPerSecond * scale * saved, bytesPerSecond * scale * saved)
    refilledAt = now
  }

  /** Takes one entry from the writer's part or from the common balance. */
  def take(share: LaneShare, size: Int, now: Long): Boolean = {
    if (!active.contains(share)) {
      share.tokens.clear()
      active :+= share
    }
    share.seenAt = now
    if (!share.tokens.isPositive && common.isPositive) share.tokens.moveFrom(common)
    share.tokens.take(size)
  }

  /** The time until the writer may send for [[Quantum]] at once. */
  def secondsToQuantum(share: LaneShare, scale: Double): Double = {
    val writers = math.max(1, active.size)
    def missing(perSecond: Double, has: Double): Double = {
      val rate = perSecond * scale / writers
      (rate * Quantum.toNanos / 1e9 - has) / rate
    }
    math.max(
      missing(entriesPerSecond, share.tokens.entries + math.max(0, common.entries)),
      missing(bytesPerSecond, share.tokens.bytes + math.max(0, common.bytes))
    )
  }
}

private[limit] object LaneBalance {

  /** A waiting lane releases entries for this time at once, so that requests are few. */
  val Quantum: FiniteDuration = 50.millis

  /** Maximum unused capacity that a lane accumulates. */
  val Saved: FiniteDuration = 100.millis

  /** A writer that has not asked for this time has no part of the rate. */
  val ActiveFor: FiniteDuration = 1.second

  /** Entries and bytes that may be sent. A balance may be negative, because an entry may be larger than the maximum. */
  final class Tokens {
    var entries = 0.0
    var bytes = 0.0

    def isPositive: Boolean = entries > 0 && bytes > 0

    def take(size: Int): Boolean = {
      val has = isPositive
      if (has) add(-1, -size.toDouble)
      has
    }

    def add(moreEntries: Double, moreBytes: Double): Unit = {
      entries += moreEntries
      bytes += moreBytes
    }

    def limit(mostEntries: Double, mostBytes: Double): Unit = {
      entries = math.min(entries, mostEntries)
      bytes = math.min(bytes, mostBytes)
    }

    def moveFrom(other: Tokens): Unit = {
      add(other.entries, other.bytes)
      other.clear()
    }

    /** Moves what `other` has above the limits to this balance. */
    def moveAbove(other: Tokens, mostEntries: Double, mostBytes: Double): Unit = {
      add(math.max(0, other.entries - mostEntries), math.max(0, other.bytes - mostBytes))
      other.limit(mostEntries, mostBytes)
    }

    def clear(): Unit = {
      entries = 0
      bytes = 0
    }
  }
}
