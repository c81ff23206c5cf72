package org.sparkkinesis.spark.write.invalid

import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** An invalid row with its position and the reason; `record` is empty if the row could not be converted. */
final case class InvalidRow(partition: Int, row: Long, stream: String, reason: String, record: Option[SinkRecord])
