package org.sparkkinesis.spark.sink.invalid

/**
 * An invalid row with its position and the reason.
 *
 * @param partitionKey
 *   empty if the row has none, or could not be converted
 * @param data
 *   the payload; empty if the row could not be converted
 */
final case class InvalidRow(
    partition: Int,
    row: Long,
    stream: String,
    reason: String,
    partitionKey: Option[String],
    data: Option[Array[Byte]]
)
