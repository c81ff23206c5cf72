package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.config.ReadOptions

/**
 * Divides prefetch memory equally between the buffers of all sources in this JVM. A source with an explicit buffer size
 * does not take part. Buffers shrink when a source starts and grow when one ends. Thread-safe.
 *
 * @param total
 *   memory in bytes
 */
final class PrefetchMemory(total: Long) {
  require(total > 0, s"the memory for prefetching must be positive, was $total bytes")
  private val buffers = mutable.HashSet.empty[PrefetchBuffer]
  @volatile private var share = total

  /** Creates the buffer of another source. */
  def open(): PrefetchBuffer = synchronized {
    val buffer = new PrefetchBuffer(() => share)
    buffers += buffer
    divide()
    buffer
  }

  /** Divides the memory of a source between the others. A buffer with an explicit size has no effect. */
  def close(buffer: PrefetchBuffer): Unit = {
    val others = synchronized {
      buffers -= buffer
      divide()
      buffers.toVector
    }
    // Growing may call publishers, which must not happen while a lock is held.
    others.foreach(_.onGrowth())
  }

  private def divide(): Unit = share = math.max(1, total / math.max(1, buffers.size))
}

object PrefetchMemory {

  /** Returns how many of the bytes that a read asks for it may have in this JVM. */
  def granted(wanted: Long): Long = granted(wanted, Runtime.getRuntime.maxMemory)

  private[consume] def granted(wanted: Long, heap: Long): Long =
    math.min(wanted, math.max(1, heap / 100 * ReadOptions.MaxBufferPercent))

  /** The part of this JVM's maximum heap size that reads share without a `fetchBufferSize` of their own. */
  def ofHeap(): PrefetchMemory = {
    val part = Runtime.getRuntime.maxMemory / 100 * ReadOptions.SharedBufferPercent
    new PrefetchMemory(math.max(1, math.min(ReadOptions.SharedBufferMaxBytes, part)))
  }
}
