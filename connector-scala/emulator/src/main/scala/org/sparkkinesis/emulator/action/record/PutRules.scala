package org.sparkkinesis.emulator.action.record

import java.util.concurrent.ThreadLocalRandom

import org.sparkkinesis.emulator.action.call.Patterns
import org.sparkkinesis.emulator.document.Fields
import org.sparkkinesis.emulator.engine.error.ServiceError
import org.sparkkinesis.emulator.engine.shard.IncomingRecord
import org.sparkkinesis.emulator.engine.stream.DataStream
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange, HashPoint}
import org.sparkkinesis.model.{KinesisQuotas, Utf8}

/**
 * Reads and checks one record of a put request. `at` is the position of the record in the request, for error
 * messages.
 */
private[record] object PutRules {
  import KinesisQuotas.Record._

  def read(fields: Fields, stream: DataStream, at: String): IncomingRecord = {
    val data = fields.blob("Data")
    val itself = stream.settings.distributesItself
    val key = fields.string("PartitionKey").orNull
    if (data == null) throw violation("Value null", s"${at}data", "not be null")
    if (key == null && !itself) throw violation("Value null", s"${at}partitionKey", "not be null")
    if (key != null) checkKey(key, at)
    if (data.length > LargestMaxBytes)
      throw violation(
        s"Value 'java.nio.HeapByteBuffer[pos=0 lim=${data.length} cap=${data.length}]'",
        s"${at}data",
        s"have length less than or equal to $LargestMaxBytes"
      )
    val size = data.length + (if (key == null) 0 else Utf8.length(key))
    if (size > stream.settings.maxRecordBytes)
      throw ServiceError.invalidArgument(
        s"The record of $size bytes (data and partition key) is above the stream's maximum record size of " +
          s"${stream.settings.maxRecordBytes} bytes."
      )
    new IncomingRecord(if (itself) null else key, data, hash(fields, key, itself, at), size)
  }

  private def checkKey(key: String, at: String): Unit = {
    val length = key.codePointCount(0, key.length)
    if (length < PartitionKeyMinChars)
      throw violation(
        s"Value '$key'",
        s"${at}partitionKey",
        s"have length greater than or equal to $PartitionKeyMinChars"
      )
    if (length > PartitionKeyMaxChars)
      throw violation(s"Value '$key'", s"${at}partitionKey", s"have length less than or equal to $PartitionKeyMaxChars")
  }

  private def hash(fields: Fields, key: String, itself: Boolean, at: String): HashPoint =
    if (itself) {
      val random = ThreadLocalRandom.current()
      new HashPoint(random.nextLong(), random.nextLong())
    } else
      fields.string("ExplicitHashKey") match {
        case None => HashPoint.ofPartitionKey(key)
        case Some(text) =>
          if (!Patterns.HashKey.matches(text))
            throw violation(
              s"Value '$text'",
              s"${at}explicitHashKey",
              s"satisfy regular expression pattern: ${Patterns.HashKey}"
            )
          val parsed = HashKey.parse(text).getOrElse {
            throw ServiceError.invalidArgument(
              "Invalid ExplicitHashKey. ExplicitHashKey must be in the range: [0, 2^128-1]. " +
                s"Specified value was $text (maximum ${HashKeyRange.Max})"
            )
          }
          HashPoint.of(parsed)
      }

  private def violation(value: String, member: String, constraint: String): ServiceError = ServiceError.validation(
    s"1 validation error detected: $value at '$member' failed to satisfy constraint: Member must $constraint"
  )
}
