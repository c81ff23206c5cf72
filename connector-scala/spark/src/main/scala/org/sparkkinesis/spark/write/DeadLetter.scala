package org.sparkkinesis.spark.write

import java.util.Base64

import org.sparkkinesis.json.Json
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.spark.sink.invalid.InvalidRow

/**
 * Creates the record about a row that could not be written: JSON with the reason, the row's position, and its
 * payload.
 */
object DeadLetter {

  /** Maximum number of bytes of a record's fields other than the payload. */
  private val Envelope = 8 * KinesisQuotas.KiB

  /**
   * Creates the record.
   *
   * @param maxRecordBytes
   *   record size limit of the dead-letter stream in bytes; a longer payload is truncated, and the record says so
   */
  def of(row: InvalidRow, queryId: String, maxRecordBytes: Int): SinkRecord = {
    val room = (maxRecordBytes - Envelope) / 4 * 3
    val payload = row.data.getOrElse(Array.emptyByteArray)
    val kept = java.util.Arrays.copyOf(payload, math.min(payload.length, room))
    val body = Json.obj(
      "reason" -> Json.Str(row.reason),
      "stream" -> Json.Str(row.stream),
      "queryId" -> Json.Str(queryId),
      "partition" -> Json.num(row.partition.toLong),
      "row" -> Json.num(row.row),
      "partitionKey" ->
        row.partitionKey.fold[Json](Json.Null)(key => Json.Str(key.take(KinesisQuotas.Record.PartitionKeyMaxChars))),
      "data" -> Json.Str(Base64.getEncoder.encodeToString(kept)),
      "dataBytes" -> Json.num(payload.length.toLong),
      "truncated" -> Json.Bool(kept.length < payload.length)
    )
    new SinkRecord(
      s"$queryId-${row.partition}",
      None,
      Json.render(body).getBytes(java.nio.charset.StandardCharsets.UTF_8)
    )
  }
}
