package org.sparkkinesis.sink

import scala.collection.mutable

/**
 * Bounds what the writers of one task hold together: entries that are written and not yet acknowledged. Thread-safe.
 *
 * One thread writes to all of these writers, so at most one of them waits for room at a time. The others then send what they
 * hold without waiting for more.
 */
final class SinkBounds(maxEntries: Int, maxBytes: Long) {
  private val members = mutable.LinkedHashSet.empty[SinkBounds.Member]
  private var entries = 0
  private var bytes = 0L
  @volatile private var blocked: SinkBounds.Member = null
  @volatile private var failed = Option.empty[SinkException]

  /** The first failure of a member. What that member holds is never released, so no other member may wait for room. */
  def failure: Option[SinkException] = failed

  private[sink] def fail(error: SinkException): Unit = synchronized {
    if (failed.isEmpty) failed = Some(error)
  }

  /** Whether an entry of this size has to wait. An entry above the limit is taken when there is no other. */
  def isFull(size: Int): Boolean = synchronized(entries >= maxEntries || entries > 0 && bytes + size > maxBytes)

  /** Whether a writer waits for room. */
  def isContended: Boolean = blocked != null

  private[sink] def take(size: Int): Unit = synchronized {
    entries += 1
    bytes += size
  }

  private[sink] def release(count: Int, size: Long): Unit = synchronized {
    entries -= count
    bytes -= size
  }

  private[sink] def join(member: SinkBounds.Member): Unit = synchronized(members += member)
  private[sink] def leave(member: SinkBounds.Member): Unit = synchronized(members -= member)

  /** The member waits for room from now on. To be called without the member's lock. */
  private[sink] def blocks(member: SinkBounds.Member): Unit = {
    val others = synchronized {
      blocked = member
      members.filter(_ ne member).toVector
    }
    others.foreach(_.hurry())
  }

  private[sink] def unblocks(): Unit = blocked = null

  /** Wakes the member that waits for room, unless it is the caller. To be called without the caller's lock. */
  private[sink] def wakeBlocked(caller: SinkBounds.Member): Unit = {
    val member = blocked
    if (member != null && (member ne caller)) member.wake()
  }
}

object SinkBounds {

  /** A writer that shares the bounds. */
  private[sink] trait Member {

    /** Sends what may be sent now. */
    def hurry(): Unit

    /** Looks again whether there is room. */
    def wake(): Unit
  }
}
