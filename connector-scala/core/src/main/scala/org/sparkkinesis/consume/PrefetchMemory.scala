package org.sparkkinesis.consume

import scala.collection.mutable

/**
 * Memory of one JVM that the prefetch buffers of all its sources share in equal parts, unless a source has a size of its own.
 * A buffer becomes smaller when another source starts and larger when one ends. Thread-safe.
 *
 * @param total
 *   bytes
 */
final class PrefetchMemory(total: Long) {
  require(total > 0, s"prefetching needs memory, was $total bytes")
  private val buffers = mutable.HashSet.empty[PrefetchBuffer]
  @volatile private var share = total

  /** The buffer of one more source. */
  def open(): PrefetchBuffer = synchronized {
    val buffer = new PrefetchBuffer(() => share)
    buffers += buffer
    divide()
    buffer
  }

  /** Gives a source's part to the others. A buffer with a size of its own is no part, and changes nothing. */
  def close(buffer: PrefetchBuffer): Unit = {
    val others = synchronized {
      buffers -= buffer
      divide()
      buffers.toVector
    }
    // A grant may call publishers, which must not happen under a lock.
    others.foreach(_.onGrowth())
  }

  private def divide(): Unit = share = math.max(1, total / math.max(1, buffers.size))
}

object PrefetchMemory {
  private val Most = 512L << 20

  /** 25 % of the heap of this JVM, at most 512 MiB. */
  def ofHeap(): PrefetchMemory = new PrefetchMemory(math.max(1, math.min(Most, Runtime.getRuntime.maxMemory / 4)))
}
