package org.sparkkinesis.aws.subscription

import java.util.ArrayDeque

/**
 * Pool of arrays for large messages of event streams. Fan-out delivers hundreds of events per second of 1 to 2 MiB
 * each, and a new array for each would be a humongous object for G1. Small arrays are not pooled. Thread-safe.
 *
 * @param maxBytes
 *   maximum number of bytes in unused arrays
 */
final private[aws] class MessageBuffers(maxBytes: Long = MessageBuffers.MaxBytes) {
  import MessageBuffers._

  private val free = new ArrayDeque[Array[Byte]]
  private var held = 0L

  /** Returns an array of at least `size` bytes with undefined content. */
  def take(size: Int): Array[Byte] =
    if (size < Smallest) new Array[Byte](size)
    else {
      val found = synchronized {
        val last = free.pollLast()
        if (last != null) held -= last.length
        last
      }
      if (found != null && found.length >= size) found else new Array[Byte]((size + Smallest - 1) / Smallest * Smallest)
    }

  /** Returns `array` to the pool. The caller must not use it afterwards. */
  def give(array: Array[Byte]): Unit = synchronized {
    if (array.length >= Smallest && held + array.length <= maxBytes) {
      free.addLast(array)
      held += array.length
    }
  }
}

private[aws] object MessageBuffers {

  /** Half of G1's smallest region size. Larger objects are humongous. */
  val Smallest: Int = 512 * 1024
  private val MaxBytes = 8L * 1024 * 1024
}
