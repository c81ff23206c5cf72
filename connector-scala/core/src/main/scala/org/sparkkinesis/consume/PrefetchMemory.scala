package org.sparkkinesis.consume

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.consume.spill.ChunkSpill

/**
 * Divides prefetch memory between the buffers of all sources in this JVM. Half of it is divided equally, and each
 * buffer may use its part at any time. The other half is for the buffers that need more, so that a busy source beside
 * many idle ones has room. A source with an explicit buffer size does not take part. Thread-safe.
 *
 * @param total
 *   memory in bytes
 */
final class PrefetchMemory(total: Long) {
  require(total > 0, s"the memory for prefetching must be positive, was $total bytes")
  @volatile private var buffers = Vector.empty[PrefetchBuffer]

  /** Creates the buffer of another source. */
  def open(spill: Option[ChunkSpill] = None): PrefetchBuffer = synchronized {
    lazy val buffer: PrefetchBuffer = new PrefetchBuffer(() => roomOf(buffer), spill)
    buffers = buffers :+ buffer
    buffer
  }

  /** Divides the memory of a source between the others. A buffer with an explicit size has no effect. */
  def close(buffer: PrefetchBuffer): Unit = {
    val others = synchronized {
      buffers = buffers.filterNot(_ eq buffer)
      buffers
    }
    // Growing may call publishers, which must not happen while a lock is held.
    others.foreach(_.onGrowth())
  }

  /** Called while the lock of the buffer is held, so it takes no other lock. */
  private def roomOf(buffer: PrefetchBuffer): Long = {
    val all = buffers
    val part = total / 2 / math.max(1, all.size)
    val taken = all.iterator.filterNot(_ eq buffer).map(other => math.max(0, other.lastUsedBytes - part)).sum
    math.max(1, part + math.max(0, total - total / 2 - taken))
  }
}

object PrefetchMemory {

  /** Returns how many of the bytes that a read asks for it may have in a JVM with this maximum heap size. */
  def granted(wanted: Long, heap: Long): Long =
    math.min(wanted, math.max(1, heap / 100 * ReadOptions.MaxBufferPercent))

  /** The part of a JVM's maximum heap size that reads share without a `fetchBufferSize` of their own. */
  def ofHeap(heap: Long): PrefetchMemory = {
    val part = heap / 100 * ReadOptions.SharedBufferPercent
    new PrefetchMemory(math.max(1, math.min(ReadOptions.SharedBufferMaxBytes, part)))
  }
}
