package org.sparkkinesis.spark.sink.invalid

import scala.collection.mutable

import org.sparkkinesis.error.SinkErrors
import org.sparkkinesis.model.{KinesisQuotas, Utf8}

/**
 * An invalid row that a task sends to the driver.
 *
 * @param data
 *   payload, possibly truncated; `dataBytes` is its full length
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

/**
 * Holds one task's invalid rows for the table to which the batch's commit appends them. Limited, because the driver
 * receives the rows of all tasks. For the task's thread.
 *
 * @param maxBytes
 *   maximum number of bytes of all rows; half of it is for payloads, which are truncated to the remaining room
 */
final class HeldLetters(table: String, maxBytes: Int) {
  import HeldLetters._

  private val held = mutable.ArrayBuffer.empty[HeldLetter]
  private var roomForPayloads = maxBytes / 2
  private var room = maxBytes - roomForPayloads

  def all: Seq[HeldLetter] = held.toSeq

  /**
   * Adds a row.
   *
   * @throws KinesisConnectorException
   *   when the limit is exceeded
   */
  def add(row: InvalidRow): Unit = {
    val kept = row.data.map(_.take(math.min(MaxPayloadBytes, roomForPayloads)))
    val letter = HeldLetter(
      row.reason,
      row.stream,
      row.partition,
      row.row,
      row.partitionKey.map(_.take(KinesisQuotas.Record.PartitionKeyMaxChars)),
      kept,
      row.data.map(_.length.toLong)
    )
    val size = sizeWithoutPayload(letter)
    if (held.size == MaxRows || size > room) throw SinkErrors.tooManyDeadLetters(
      held = held.size,
      limit = s"$MaxRows rows or ${maxBytes / KinesisQuotas.KiB} KiB",
      partition = row.partition,
      table = table,
      reason = row.reason
    )
    room -= size
    roomForPayloads -= kept.fold(0)(_.length)
    held += letter
  }
}

object HeldLetters {
  val MaxRows: Int = 10000

  /** Maximum number of bytes of one payload, and of the rows of a task if there are few tasks. */
  val MaxPayloadBytes: Int = 64 * KinesisQuotas.KiB
  val MaxBytes: Int = 16 * KinesisQuotas.KiB * KinesisQuotas.KiB

  /** Bytes of a row in addition to its texts and its payload when it is sent to the driver. */
  private val Envelope = 200

  /** Returns a task's share of the bytes that the driver accepts from all tasks. */
  def bytesOfTask(ofAllTasks: Long, tasks: Int): Int = math.min(MaxBytes.toLong, ofAllTasks / math.max(1, tasks)).toInt

  private def sizeWithoutPayload(letter: HeldLetter): Int =
    Envelope + Utf8.length(letter.reason) + Utf8.length(letter.stream) + letter.partitionKey.fold(0)(Utf8.length)
}
