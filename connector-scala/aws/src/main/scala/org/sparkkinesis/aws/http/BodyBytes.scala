package org.sparkkinesis.aws.http

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer

/**
 * Collects the content of a response. One thread at a time uses it.
 *
 * @param expected
 *   expected number of bytes, or a negative number if it is unknown
 */
final private[aws] class BodyBytes(expected: Long) {
  import BodyBytes._

  private val bytes = new ByteArrayOutputStream(math.max(Least, math.min(expected, LongestExpected)).toInt)

  def add(part: ByteBuffer): Unit = if (part.hasArray)
    bytes.write(part.array, part.arrayOffset + part.position(), part.remaining)
  else {
    val copy = new Array[Byte](part.remaining)
    part.get(copy)
    bytes.writeBytes(copy)
  }

  def toArray: Array[Byte] = bytes.toByteArray
}

private object BodyBytes {
  val Least = 32L

  /** No more memory is allocated for bytes that may not come. */
  val LongestExpected: Long = 1L << 20
}
