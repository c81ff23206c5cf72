package org.sparkkinesis.sink.limit.shared

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.EventSink

/**
 * The limits of all destinations of one kind in one process. They outlive the writers, so that each micro-batch starts
 * with the rates of the previous one. Thread-safe.
 *
 * @param create
 *   creates the limits of a destination; called while a lock is held
 */
final class SharedLimits[K, L](create: (K, LimitUsage, Scheduler) => L) {
  import SharedLimits._

  final private class Entry(val limits: L, val usage: LimitUsage) {
    var idleSince = 0L
    def isUsed: Boolean = usage.users.nonEmpty
  }

  private val entries = mutable.HashMap.empty[K, Entry]

  /**
   * Returns the limits until `release` with the same arguments.
   *
   * @param senders
   *   number of writers that write to the destination at the same time, in all processes
   * @param events
   *   receives changes of the limits until `release`; equal receivers are told once
   */
  def acquire(key: K, senders: Int, events: EventSink, scheduler: Scheduler): L = synchronized {
    val now = scheduler.nanoTime
    entries.filterInPlace((_, entry) => entry.isUsed || now - entry.idleSince < IdleTime.toNanos)
    val entry = entries.getOrElseUpdate(
      key, {
        val usage = new LimitUsage
        new Entry(create(key, usage, scheduler), usage)
      }
    )
    entry.usage.users.join(events)
    entry.usage.count = senders
    entry.limits
  }

  def release(key: K, events: EventSink, scheduler: Scheduler): Unit = {
    synchronized(entries.get(key)).foreach(_.usage.deliver())
    synchronized {
      entries.get(key).foreach { entry =>
        entry.usage.users.leave(events)
        entry.idleSince = scheduler.nanoTime
      }
    }
  }
}

private object SharedLimits {

  /** Unused limits are removed after this time. */
  val IdleTime: FiniteDuration = 10.minutes
}

/** The current users of the limits of one destination. Thread-safe. */
final class LimitUsage private[shared] () {
  @volatile private[shared] var count = 1
  private[shared] val users = new LimitUsers
  private val held = new HeldEvents(users)

  /** Receives the events of the limits, and holds them back until [[deliver]]. Any lock may be held. */
  def events: EventSink = held

  /** Passes the events on to each query that uses the limits now. Must be called without a lock. */
  def deliver(): Unit = held.deliver()

  /** Number of writers that write to the destination at the same time, in all processes. */
  def senders: Int = count
}
