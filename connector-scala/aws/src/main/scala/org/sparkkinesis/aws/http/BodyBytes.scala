package org.sparkkinesis.aws.http

import java.util.Arrays

import io.netty.buffer.ByteBuf

/**
 * Collects the content of a response. One thread at a time uses it.
 *
 * @param expected
 *   expected number of bytes, or a negative number if it is unknown
 */
final private[aws] class BodyBytes(expected: Long) {
  import BodyBytes._

  private var bytes = new Array[Byte](if (expected < 0) Least else math.min(expected, LongestExpected).toInt)
  private var length = 0

  def add(part: ByteBuf): Unit = {
    val more = part.readableBytes
    if (bytes.length - length < more)
      bytes = Arrays.copyOf(bytes, math.max(length + more, math.min(bytes.length * 2L, LongestArray).toInt))
    part.readBytes(bytes, length, more)
    length += more
  }

  /** Returns the content. If it has the expected length, it is not copied. */
  def toArray: Array[Byte] = if (bytes.length == length) bytes else Arrays.copyOf(bytes, length)
}

private object BodyBytes {
  val Least = 1024

  /** No more memory is allocated for bytes that may not come. */
  val LongestExpected: Long = 1L << 20

  /** The largest array that every JVM can allocate. */
  val LongestArray: Long = Int.MaxValue - 8L
}
