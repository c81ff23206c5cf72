package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.consume.spill.ChunkSpill

/**
 * Limits the memory that all shards of a source hold in one JVM. Thread-safe and non-blocking: a shard that must wait
 * receives a callback.
 *
 * A shard may fetch while it uses less than twice the free space (a dynamic threshold). One busy shard can take two
 * thirds of the buffer and leaves one third for shards that become busy; many busy shards share the buffer evenly. A
 * shard that holds nothing may always fetch one batch of a quarter of its fair share, so that no shard starves and
 * prefetched child shards cannot block their parents. For a shard whose last batches were small, only little space is
 * reserved. The limit is therefore soft: idle shards that become busy at the same time can exceed it by one batch each.
 *
 * While local files have room for more records, a shard does not wait: the consumers move records to the files when the
 * records in memory exceed three quarters of the limit. The last quarter is for the batches that are being fetched.
 *
 * @param room
 *   maximum number of bytes that all shards together may hold; it may change, see [[PrefetchMemory]]
 * @param spill
 *   the local files for records that exceed the limit, if there are some
 */
final class PrefetchBuffer private[consume] (room: () => Long, val spill: Option[ChunkSpill]) {
  def this(capacity: Long, spill: Option[ChunkSpill] = None) = this(PrefetchBuffer.positive(capacity), spill)
  def capacity: Long = room()

  /**
   * Size of the first batch of a shard. Shards are often opened together, and the first one must not take the whole
   * buffer.
   */
  private def firstBatch = math.min(capacity / 8, 256L * 1024)
  private val accounts = mutable.HashSet.empty[Account]
  private val waiting = mutable.TreeSet.empty[Account](Ordering.by((a: Account) => (a.used, a.id)))
  @volatile private var total = 0L
  private var reservations = 0L
  private var lastId = 0L

  def usedBytes: Long = synchronized(total)

  /** Like [[usedBytes]], without the lock. Another thread may be changing the number. */
  private[consume] def lastUsedBytes: Long = total

  /** True if only shards that hold nothing can get space. A shard may also wait for batches that are being fetched. */
  def isFull: Boolean = synchronized(waiting.nonEmpty && (!canSpill || holding > capacity / 8 * 7))

  private def canSpill = spill.exists(_.hasRoom)

  /** Bytes of the records in memory, without the space that is reserved. Called while the lock is held. */
  private def holding = total - reservations

  /**
   * @param onGrant
   *   receives the maximum number of bytes of the next batch. It is called on the thread that asked or that released
   *   space, and must not block.
   */
  def open(onGrant: Long => Unit): PrefetchAccount = synchronized {
    lastId += 1
    val account = new Account(lastId, onGrant)
    accounts += account
    account
  }

  /** Grants space to waiting shards after the capacity grew. */
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
      reserve(0)
      total += bytes
      held += bytes
    }

    override def settle(): Unit = change(reserve(0))

    override def remove(bytes: Long): Unit = change {
      held -= bytes
      total -= bytes
    }

    override def heldBytes: Long = PrefetchBuffer.this.synchronized(held)

    override def bytesToSpill: Option[Long] = PrefetchBuffer.this.synchronized {
      Option.when(canSpill && holding > capacity / 4 * 3)(math.max(
        1,
        math.min(PrefetchAccount.SmallestSpill, share / 4)
      ))
    }

    override def close(): Unit = change {
      isOpen = false
      waiting -= this
      reserve(0)
      total -= held
      held = 0
      accounts -= this
    }

    /** Returns the size of the next batch, or 0 if the shard must wait for space. Called while the lock is held. */
    def grantOrWait(): Long = {
      val free = capacity - total
      val largest = share
      val room = if (canSpill) free else math.min(2 * free - used, free)
      // Small free spaces are not granted, because they would cause many small calls.
      if (used == 0 || room >= math.max(1, largest / 4)) {
        val isIdle = expected != PrefetchAccount.Unknown && expected <= largest / 4
        val wanted =
          if (expected == PrefetchAccount.Unknown) math.max(1, math.min(firstBatch, math.max(free / 8, largest / 4)))
          else if (isIdle) largest
          else math.min(2 * expected, largest)
        val granted = if (used == 0) wanted else math.min(wanted, room)
        val reservation = if (isIdle) math.max(expected, 1) else granted
        // Space of an earlier grant may still be reserved.
        reserve(reservation)
        granted
      } else {
        waiting += this
        0
      }
    }

    def tell(granted: Long): Unit = onGrant(granted)

    private def reserve(bytes: Long): Unit = {
      total += bytes - reserved
      reservations += bytes - reserved
      reserved = bytes
    }

    private def change(body: => Unit): Unit = {
      val granted = PrefetchBuffer.this.synchronized {
        // The set is ordered by used bytes, so an account must not be in it while that number changes.
        val waits = waiting.remove(this)
        if (isOpen) body
        if (waits && isOpen) waiting += this
        resumeAll()
      }
      granted.foreach { case (account, bytes) => account.tell(bytes) }
    }
  }

  /**
   * The largest batch of one shard. A response in flight needs several times its payload. The responses of all shards
   * together must not exceed the buffer.
   */
  private def share = math.max(1, capacity / math.max(1, accounts.size) / 4)

  /**
   * Grants space to the waiting account that uses least. If it gets none, no account can. Called while the lock is
   * held.
   */
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

object PrefetchBuffer {
  private def positive(capacity: Long): () => Long = {
    require(capacity > 0, s"the capacity of the prefetch buffer must be positive, was $capacity bytes")
    () => capacity
  }
}

/** The account of one shard in a [[PrefetchBuffer]]. */
trait PrefetchAccount {

  /**
   * Asks for space for one batch. `onGrant` is called once, immediately or when there is space.
   *
   * @param expectedBytes
   *   expected size of the batch, which is reserved; or [[PrefetchAccount.Unknown]]
   */
  def ask(expectedBytes: Long): Unit

  /** Replaces the reserved space by the size of a batch that has arrived. */
  def add(bytes: Long): Unit

  /** Returns the space of the last grant, because no batch arrived. */
  def settle(): Unit

  /** Returns the space of removed data. This may be called shortly before the `add` of the same data. */
  def remove(bytes: Long): Unit
  def heldBytes: Long

  /** Returns how many of its newest bytes the shard is to move to local files at least, if memory is full. */
  def bytesToSpill: Option[Long]

  /** Returns all space and closes the account. */
  def close(): Unit
}

object PrefetchAccount {
  final val Unknown = -1L

  /** A write to a local file has at least this size, unless the memory of a shard is smaller. */
  private[consume] val SmallestSpill = 1L << 20
}
