package org.sparkkinesis.consume

import scala.collection.mutable

/**
 * Bounds what all shards of one source hold in one JVM. Thread-safe; never blocks: a shard that must wait is called back.
 *
 * A shard may fetch while it uses less than twice what is still free (a dynamic threshold): one busy shard takes two
 * thirds of the buffer and leaves a third for those that wake up, many busy ones share it evenly. A shard that uses
 * nothing may always fetch one batch, of a quarter of a fair share, so that none starves and children that were prefetched
 * early cannot lock their parents out. For a shard that has had little lately only little is set aside, so the bound is
 * soft: idle shards that all wake up at once may pass it, by such a batch each.
 *
 * @param room
 *   bytes that all shards together may hold; it may change, see [[PrefetchMemory]]
 */
final class PrefetchBuffer private[consume] (room: () => Long) {
  def this(capacity: Long) = this(() => capacity)
  require(capacity > 0, s"the prefetch buffer needs room, was $capacity bytes")

  def capacity: Long = room()

  /** Shards are often opened all at once, when the first of them would take all that a lone one may have. */
  private def firstBatch = math.min(capacity / 8, 256L * 1024)
  private val accounts = mutable.HashSet.empty[Account]
  private val waiting = mutable.TreeSet.empty[Account](Ordering.by((a: Account) => (a.used, a.id)))
  private var total = 0L
  private var lastId = 0L

  def usedBytes: Long = synchronized(total)

  /** Too full to grant anything but a first batch to an empty shard. */
  def isFull: Boolean = synchronized(waiting.nonEmpty)

  /**
   * @param onGrant
   *   is told how much a batch may hold; called on the thread that asked, or on the one that released. Must not block.
   */
  def open(onGrant: Long => Unit): PrefetchAccount = synchronized {
    lastId += 1
    val account = new Account(lastId, onGrant)
    accounts += account
    account
  }

  /** Grants what waits, after the capacity grew. */
  private[consume] def onGrowth(): Unit = {
    val granted = synchronized(resumeAll())
    granted.foreach { case (account, bytes) => account.tell(bytes) }
  }

  final private class Account(val id: Long, onGrant: Long => Unit) extends PrefetchAccount {
    private var held = 0L
    private var reserved = 0L
    private var expected = 0L
    private var isOpen = true

    def used: Long = held + reserved

    override def ask(expectedBytes: Long): Unit = {
      val granted = PrefetchBuffer.this.synchronized {
        if (!isOpen || waiting.contains(this)) 0L
        else {
          expected = expectedBytes
          grantOrWait()
        }
      }
      if (granted > 0) onGrant(granted)
    }

    override def add(bytes: Long): Unit = change {
      total += bytes - reserved
      held += bytes
      reserved = 0
    }

    override def settle(): Unit = change {
      total -= reserved
      reserved = 0
    }

    override def remove(bytes: Long): Unit = change {
      held -= bytes
      total -= bytes
    }

    override def heldBytes: Long = PrefetchBuffer.this.synchronized(held)

    override def close(): Unit = change {
      isOpen = false
      waiting -= this
      total -= used
      held = 0
      reserved = 0
      accounts -= this
    }

    /** The size of the next batch, or 0 when it has to wait for room. Holds the lock. */
    def grantOrWait(): Long = {
      val free = capacity - total
      // Answers under way take several times their payload; all shards' together must not outweigh the buffer.
      val largest = math.max(1, capacity / math.max(1, accounts.size) / 4)
      val room = math.min(2 * free - used, free)
      // Not for a sliver of room: that would be many small calls.
      if (used == 0 || room >= math.max(1, largest / 4)) {
        val isIdle = expected != PrefetchAccount.Unknown && expected <= largest / 4
        val wanted =
          if (expected == PrefetchAccount.Unknown) math.max(1, math.min(firstBatch, math.max(free / 8, largest / 4)))
          else if (isIdle) largest
          else math.min(2 * expected, largest)
        val granted = if (used == 0) wanted else math.min(wanted, room)
        val aside = if (isIdle) math.max(expected, 1) else granted
        // A grant before this one may still be under way.
        total += aside - reserved
        reserved = aside
        granted
      } else {
        waiting += this
        0
      }
    }

    def tell(granted: Long): Unit = onGrant(granted)

    private def change(body: => Unit): Unit = {
      val granted = PrefetchBuffer.this.synchronized {
        // The set is ordered by what accounts use: it must not hold one while that changes.
        val waits = waiting.remove(this)
        if (isOpen) body
        if (waits && isOpen) waiting += this
        resumeAll()
      }
      granted.foreach { case (account, bytes) => account.tell(bytes) }
    }
  }

  /** The waiting one that uses least goes first; when it cannot go, none can. Holds the lock. */
  private def resumeAll(): List[(Account, Long)] = {
    val resumed = List.newBuilder[(Account, Long)]
    var more = true
    while (more && waiting.nonEmpty) {
      val first = waiting.head
      waiting -= first
      val granted = first.grantOrWait()
      if (granted > 0) resumed += first -> granted else more = false
    }
    resumed.result()
  }
}

/** One shard's part of a [[PrefetchBuffer]]. */
trait PrefetchAccount {

  /**
   * Asks for room for one batch; the answer comes by `onGrant`, once, now or when there is room.
   *
   * @param expectedBytes
   *   what the batch will probably hold, and what is set aside for it; or [[PrefetchAccount.Unknown]]
   */
  def ask(expectedBytes: Long): Unit

  /** A batch has come: what was set aside becomes what is really held. */
  def add(bytes: Long): Unit

  /** Nothing came of the last grant. */
  def settle(): Unit

  /** May come shortly before the `add` that it belongs to. */
  def remove(bytes: Long): Unit
  def heldBytes: Long

  /** Gives everything back. */
  def close(): Unit
}

object PrefetchAccount {
  final val Unknown = -1L
}
