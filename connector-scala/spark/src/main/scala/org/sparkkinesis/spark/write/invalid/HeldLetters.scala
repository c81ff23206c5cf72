package org.sparkkinesis.spark.write.invalid

import scala.collection.mutable

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.model.KinesisQuotas

/**
 * An invalid row on its way to the driver.
 *
 * @param data
 *   the payload, perhaps only its beginning; `dataBytes` is its whole length
 */
final case class HeldLetter(
    reason: String,
    stream: String,
    partition: Int,
    row: Long,
    partitionKey: Option[String],
    data: Option[Array[Byte]],
    dataBytes: Option[Long]
)

/** One task's invalid rows, for the table that they are appended to at the batch's commit. Bounded, since the driver gets all. */
final class HeldLetters(table: String) {
  import HeldLetters._

  private val held = mutable.ArrayBuffer.empty[HeldLetter]
  private var room = MaxBytes

  def all: Seq[HeldLetter] = held.toSeq

  /** @throws KinesisConnectorException when there are too many */
  def add(row: InvalidRow): Unit = {
    if (held.size == MaxRows) throw SinkErrors.tooManyDeadLetters(
      limit = MaxRows,
      partition = row.partition,
      table = table,
      reason = row.reason
    )
    val kept = row.record.map(record => record.data.take(math.min(MaxPayloadBytes, room)))
    room -= kept.fold(0)(_.length)
    held += HeldLetter(
      row.reason,
      row.stream,
      row.partition,
      row.row,
      row.record.map(_.partitionKey.take(KinesisQuotas.Record.PartitionKeyMaxChars)),
      kept,
      row.record.map(_.data.length.toLong)
    )
  }
}

object HeldLetters {
  val MaxRows: Int = 10000

  /** What is kept of one payload, and of a task's payloads together. */
  val MaxPayloadBytes: Int = 64 * KinesisQuotas.KiB
  val MaxBytes: Int = 8 * KinesisQuotas.KiB * KinesisQuotas.KiB
}
