package org.sparkkinesis.sink

import scala.collection.mutable

/**
 * Limits the unacknowledged entries of all writers of one task. Thread-safe.
 *
 * One thread writes to all these writers, so at most one of them waits for space at a time. The others then send their
 * entries without waiting for their requests to fill.
 */
final class SinkBounds(maxEntries: Int, maxBytes: Long) {
  private val members = mutable.LinkedHashSet.empty[SinkBounds.Member]
  private var entries = 0
  private var bytes = 0L
  @volatile private var blocked: SinkBounds.Member = null
  @volatile private var failures = Vector.empty[SinkException]

  /**
   * The first failure of the members that have failed. What such a member holds is never released, so no other member
   * may wait for room.
   */
  def failure: Option[SinkException] = failures.headOption

  /** A member has failed. Each member fails once. */
  private[sink] def fail(error: SinkException): Unit = synchronized(failures :+= error)

  /** The member with this failure was closed and its entries are written elsewhere, so the others may go on. */
  private[sink] def forgive(error: SinkException): Unit = synchronized {
    val index = failures.indexWhere(_ eq error)
    if (index >= 0) failures = failures.patch(index, Nil, 1)
  }

  /** Whether an entry of this size must wait. An entry above the limit is accepted if there is no other entry. */
  def isFull(size: Int): Boolean = synchronized(entries >= maxEntries || entries > 0 && bytes + size > maxBytes)

  /** Takes the space of an entry, or returns false if it must wait. */
  private[sink] def tryTake(size: Int): Boolean = synchronized {
    val has = !isFull(size)
    if (has) take(size)
    has
  }

  /** Whether a writer waits for space. */
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

  /** The member starts waiting for space. Must be called without the member's lock. */
  private[sink] def blocks(member: SinkBounds.Member): Unit = {
    val others = synchronized {
      blocked = member
      members.filter(_ ne member).toVector
    }
    others.foreach(_.hurry())
  }

  private[sink] def unblocks(): Unit = blocked = null

  /** Wakes the member that waits for space, unless it is the caller. Must be called without the caller's lock. */
  private[sink] def wakeBlocked(caller: SinkBounds.Member): Unit = {
    val member = blocked
    if (member != null && (member ne caller)) member.wake()
  }
}

object SinkBounds {

  /** A writer that shares the limits. */
  private[sink] trait Member {

    /** Sends the entries that may be sent now. */
    def hurry(): Unit

    /** Checks again whether there is space. */
    def wake(): Unit
  }
}
