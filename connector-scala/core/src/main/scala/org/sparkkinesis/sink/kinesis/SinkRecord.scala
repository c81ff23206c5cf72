package org.sparkkinesis.sink.kinesis

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.sparkkinesis.model.HashKey
import org.sparkkinesis.service.Utf8

/** A record on its way to a stream; checked already, see [[RecordRules]]. The payload is not changed any more. */
final class SinkRecord(val partitionKey: String, val explicitHashKey: Option[String], val data: Array[Byte]) {

  /** As the service counts it: payload and the key's UTF-8 bytes. */
  val size: Int = data.length + Utf8.length(partitionKey)

  private var knownPoint: HashPoint = null

  /** Where it falls in the key space. Found once; by two threads at the same time twice, which is as well. */
  def hashPoint: HashPoint = {
    // Read once: of two reads without a lock the second may be the older one.
    var point = knownPoint
    if (point == null) {
      point = explicitHashKey.flatMap(HashKey.parse).fold(HashPoint.ofPartitionKey(partitionKey))(HashPoint.of)
      knownPoint = point
    }
    point
  }
}

/** A hash key as two unsigned halves; the same number as a [[HashKey]] gives. */
final case class HashPoint(high: Long, low: Long) {
  def toBigInt: BigInt =
    (BigInt(java.lang.Long.toUnsignedString(high)) << 64) + BigInt(java.lang.Long.toUnsignedString(low))
}

object HashPoint {

  /** A digest with room for its result. */
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
