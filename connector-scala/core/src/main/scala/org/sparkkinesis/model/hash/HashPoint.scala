package org.sparkkinesis.model.hash

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/** A hash key as two unsigned halves, for comparisons without big integers. Its value equals that of [[HashKey]]. */
final case class HashPoint(high: Long, low: Long) extends Ordered[HashPoint] {
  override def compare(that: HashPoint): Int = {
    val byHigh = java.lang.Long.compareUnsigned(high, that.high)
    if (byHigh != 0) byHigh else java.lang.Long.compareUnsigned(low, that.low)
  }

  def toBigInt: BigInt =
    (BigInt(java.lang.Long.toUnsignedString(high)) << 64) + BigInt(java.lang.Long.toUnsignedString(low))
}

object HashPoint {

  /** A digest with a buffer for its result. */
  final private class Md5 {
    private val digest = MessageDigest.getInstance("MD5")
    private val result = ByteBuffer.allocate(digest.getDigestLength)

    def of(bytes: Array[Byte]): HashPoint = {
      digest.update(bytes)
      digest.digest(result.array, 0, result.capacity)
      HashPoint(result.getLong(0), result.getLong(8))
    }
  }

  private val digests = ThreadLocal.withInitial[Md5](() => new Md5)

  def of(hashKey: BigInt): HashPoint = HashPoint((hashKey >> 64).toLong, hashKey.toLong)

  def ofPartitionKey(partitionKey: String): HashPoint = digests.get.of(partitionKey.getBytes(UTF_8))
}
