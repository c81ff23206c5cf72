package org.sparkkinesis.sink.kinesis.put

import org.sparkkinesis.model.{HashKey, KinesisQuotas}

/**
 * What a record must be for the service to take it. Checked before anything is sent, since one wrong record fails the
 * whole request.
 *
 * @param maxRecordBytes
 *   the stream's own limit for payload and key
 */
final case class RecordRules(maxRecordBytes: Int) {
  import KinesisQuotas.Record._

  /** Why the record cannot be taken. The text tells sizes and counts, never content. */
  def violation(record: SinkRecord): Option[String] = {
    val keyLength = record.partitionKey.codePointCount(0, record.partitionKey.length)
    if (keyLength < PartitionKeyMinChars) Some("its partition key is empty")
    else if (keyLength > PartitionKeyMaxChars)
      Some(
        s"its partition key has $keyLength characters, the service takes $PartitionKeyMinChars to $PartitionKeyMaxChars"
      )
    else if (record.explicitHashKey.exists(HashKey.parse(_).isEmpty))
      Some("its explicit hash key is not a decimal number from 0 to 2^128-1 without leading zeros")
    else if (record.size > maxRecordBytes)
      Some(s"it has ${record.size} bytes with its partition key, the stream takes $maxRecordBytes")
    else None
  }
}
