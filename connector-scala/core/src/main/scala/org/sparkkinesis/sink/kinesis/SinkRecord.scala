package org.sparkkinesis.sink.kinesis

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.sparkkinesis.model.HashKey
import org.sparkkinesis.service.Utf8

/** A record on its way to a stream; checked already, see [[RecordRules]]. The payload is not changed any more. */
final class SinkRecord(val partitionKey: String, val explicitHashKey: Option[String], val data: Array[Byte]) {

  /** As the service counts it: payload and the key's UTF-8 bytes. */
  val size: Int = data.length + Utf8.length(partitionKey)

  /** Where it falls in the key space. */
  lazy val hashPoint: HashPoint =
    explicitHashKey.flatMap(HashKey.parse).fold(HashPoint.ofPartitionKey(partitionKey))(HashPoint.of)
}

/** A hash key as two unsigned halves; the same number as a [[HashKey]] gives. */
final case class HashPoint(high: Long, low: Long) {
  def toBigInt: BigInt =
    (BigInt(java.lang.Long.toUnsignedString(high)) << 64) + BigInt(java.lang.Long.toUnsignedString(low))
}

object HashPoint {
  private val digests = ThreadLocal.withInitial[MessageDigest](() => MessageDigest.getInstance("MD5"))

  def of(hashKey: BigInt): HashPoint = HashPoint((hashKey >> 64).toLong, hashKey.toLong)

  def ofPartitionKey(partitionKey: String): HashPoint = {
    val bytes = java.nio.ByteBuffer.wrap(digests.get.digest(partitionKey.getBytes(UTF_8)))
    HashPoint(bytes.getLong(0), bytes.getLong(8))
  }
}
