package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.model.hash.HashKey

/**
 * The service's rules for a record. They are checked before sending, because one invalid record fails the whole
 * request.
 *
 * @param maxRecordBytes
 *   the stream's size limit of payload and key
 */
final case class RecordRules(maxRecordBytes: Int) {
  import KinesisQuotas.Record._

  /** Returns why the record is invalid. The text contains sizes and counts but no content. */
  def violation(record: SinkRecord): Option[String] = {
    val keyLength = record.partitionKey.codePointCount(0, record.partitionKey.length)
    if (keyLength < PartitionKeyMinChars) Some("its partition key is empty")
    else if (keyLength > PartitionKeyMaxChars)
      Some(
        s"its partition key has $keyLength characters, the service accepts " +
          s"$PartitionKeyMinChars to $PartitionKeyMaxChars"
      )
    else if (record.explicitHashKey.exists(HashKey.parse(_).isEmpty))
      Some("its explicit hash key is not a decimal number from 0 to 2^128-1 without leading zeros")
    else if (record.size > maxRecordBytes)
      Some(s"it has ${record.size} bytes with its partition key, the stream accepts $maxRecordBytes")
    else None
  }
}
