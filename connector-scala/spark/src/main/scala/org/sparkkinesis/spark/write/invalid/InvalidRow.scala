package org.sparkkinesis.spark.write.invalid

import org.sparkkinesis.sink.kinesis.put.SinkRecord


/** What is kept of a row that cannot be written; `record` where it got as far as that. */
final case class InvalidRow(partition: Int, row: Long, stream: String, reason: String, record: Option[SinkRecord])
