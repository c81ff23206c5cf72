package org.sparkkinesis.aws.subscription

import java.util.ArrayDeque

/**
 * Arrays that the large messages of event streams are put together in, to be used again: of pushed events there are hundreds a second,
 * of a MiB or two each, and every one would be a humongous object for G1. Small ones are made anew. Thread-safe.
 *
 * @param maxBytes
 *   of arrays that are kept while nobody uses them
 */
final private[aws] class MessageBuffers(maxBytes: Long = MessageBuffers.MaxBytes) {
  import MessageBuffers._

  private val free = new ArrayDeque[Array[Byte]]
  private var held = 0L

  /** At least so many bytes, of whatever content. */
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

  /** It must not be used any more by whoever gives it. */
  def give(array: Array[Byte]): Unit = synchronized {
    if (array.length >= Smallest && held + array.length <= maxBytes) {
      free.addLast(array)
      held += array.length
    }
  }
}

private[aws] object MessageBuffers {

  /** Half of the smallest region that G1 has: above it an object is humongous. */
  val Smallest: Int = 512 * 1024
  private val MaxBytes = 8L * 1024 * 1024
}
