package org.sparkkinesis.firehose

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.util.Base64
import java.util.concurrent.CompletableFuture

import org.sparkkinesis.aws.request.JsonService
import org.sparkkinesis.json.Json
import org.sparkkinesis.service.Operation

/**
 * The calls that the sink makes to Amazon Data Firehose. An instance is bound to one region and one set of credentials.
 * Every call returns immediately, and its future fails only with [[org.sparkkinesis.service.ServiceException]].
 * Implementations are thread-safe.
 */
trait FirehoseService extends AutoCloseable {

  /**
   * Writes payloads. Returns for each of them why it was refused, or nothing. `cancel` ends the call; the future is
   * done when the service can receive nothing more of it.
   */
  def putRecordBatch(
      stream: String,
      records: IndexedSeq[Array[Byte]]
  ): CompletableFuture[IndexedSeq[Option[RefusedRecord]]]
}

final case class RefusedRecord(code: String, message: String)

/** Implements [[FirehoseService]] on requests that this project signs. This instance owns `requests`. */
final class JsonFirehoseService(requests: JsonService) extends FirehoseService {
  override def putRecordBatch(
      stream: String,
      records: IndexedSeq[Array[Byte]]
  ): CompletableFuture[IndexedSeq[Option[RefusedRecord]]] =
    requests.call(Operation.PutRecordBatch, PutRecordBatchJson.request(stream, records))(PutRecordBatchJson.answer)

  override def close(): Unit = requests.close()
}

/** Encodes and decodes the JSON of PutRecordBatch. */
private[firehose] object PutRecordBatchJson {
  private val FixedBytes = 16

  /** Returns the body of a request. The name of a delivery stream has no character that JSON escapes. */
  def request(stream: String, records: IndexedSeq[Array[Byte]]): Array[Byte] = {
    val out = new ByteArrayOutputStream(128 + records.iterator.map(_.length * 4 / 3 + FixedBytes).sum)
    def text(ascii: String): Unit = out.writeBytes(ascii.getBytes(US_ASCII))
    text(s"""{"DeliveryStreamName":"$stream","Records":[""")
    records.indices.foreach { i =>
      text(if (i == 0) """{"Data":"""" else """,{"Data":"""")
      out.writeBytes(Base64.getEncoder.encode(records(i)))
      text("\"}")
    }
    text("]}")
    out.toByteArray
  }

  /**
   * Reads the body of a successful answer.
   *
   * @throws IOException
   *   if it is not the answer of this operation, so that the records count as unanswered
   */
  def answer(body: Array[Byte]): IndexedSeq[Option[RefusedRecord]] =
    Json.parse(new String(body, UTF_8)).toOption.flatMap(_.field("RequestResponses")) match {
      case Some(Json.Arr(responses)) => responses.map { response =>
          response.field("ErrorCode").flatMap(_.asString).map { code =>
            RefusedRecord(code, response.field("ErrorMessage").flatMap(_.asString).getOrElse("no message"))
          }
        }
      case _ => throw new IOException(s"the answer to ${Operation.PutRecordBatch} has no RequestResponses")
    }
}
