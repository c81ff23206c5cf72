package org.sparkkinesis.emulator.engine.stream

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets
import java.security.MessageDigest

/** A place in the 128-bit key space as two unsigned words: what a put compares shard ranges with, without big integers. */
final class HashPoint(val high: Long, val low: Long) extends Ordered[HashPoint] {
  override def compare(that: HashPoint): Int = {
    val byHigh = java.lang.Long.compareUnsigned(high, that.high)
    if (byHigh != 0) byHigh else java.lang.Long.compareUnsigned(low, that.low)
  }
}

object HashPoint {
  private val md5 = ThreadLocal.withInitial[MessageDigest](() => MessageDigest.getInstance("MD5"))

  def of(hashKey: BigInt): HashPoint = new HashPoint((hashKey >> 64).toLong, hashKey.toLong)

  def ofPartitionKey(partitionKey: String): HashPoint = {
    val digest = ByteBuffer.wrap(md5.get().digest(partitionKey.getBytes(StandardCharsets.UTF_8)))
    new HashPoint(digest.getLong(), digest.getLong())
  }
}
