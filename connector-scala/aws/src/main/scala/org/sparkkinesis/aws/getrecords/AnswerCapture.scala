package org.sparkkinesis.aws.getrecords

import java.io.{ByteArrayInputStream, InputStream}
import java.util.Optional
import java.util.zip.{CRC32, CheckedInputStream}

import scala.util.{Failure, Success, Try}

import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttribute, ExecutionAttributes, ExecutionInterceptor}
import software.amazon.awssdk.http.SdkHttpResponse

import org.sparkkinesis.aws.record.{CborAnswer, CborAnswers, UnreadableAnswer}
import org.sparkkinesis.service.RecordPage

/** Holds the decoded response of one call. One thread writes and reads it. */
final private[aws] class CapturedAnswer extends CborAnswer {
  private var decoded = Option.empty[Try[RecordPage]]

  /**
   * The response, or why it cannot be decoded. `None` if the connector did not decode it: the SDK decodes error
   * responses, and responses that are not plain CBOR.
   */
  def result: Option[Try[RecordPage]] = decoded

  /**
   * Decodes the stream and reads it to its end.
   *
   * @throws java.io.IOException
   *   if the stream cannot be read
   */
  private[getrecords] def decode(body: InputStream): Unit = {
    val actual = new CRC32
    val in = if (checksum.isEmpty) body else new CheckedInputStream(body, actual)
    val page =
      try Success(GetRecordsAnswer.read(in, length))
      catch { case unreadable @ (_: UnreadableAnswer | _: IllegalArgumentException) => Failure(unreadable) }
    // Only a response that was read to its end leaves its connection to the next call.
    val rest = new Array[Byte](256)
    while (in.read(rest) >= 0) {}
    decoded = Some(page.flatMap { found =>
      if (checksum.forall(_ == actual.getValue)) Success(found)
      else Failure(new UnreadableAnswer("The checksum of the response is wrong"))
    })
  }
}

/**
 * Decodes the body of a response while it arrives, if the request asks for it, and passes an empty response to the SDK.
 * The SDK remains responsible for credentials, endpoint, signature, timeouts and error responses.
 */
private[aws] object AnswerCapture extends ExecutionInterceptor {

  /** Execution attribute of a request whose response is captured. */
  val Wanted: ExecutionAttribute[CapturedAnswer] = new ExecutionAttribute[CapturedAnswer]("spark-kinesis-answer")

  override def modifyHttpResponse(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): SdkHttpResponse = CborAnswers.begin(attributes.getAttribute(Wanted), context.httpResponse)

  override def modifyHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[InputStream] = {
    val wanted = attributes.getAttribute(Wanted)
    if (wanted == null || !wanted.isBegun) context.responseBody
    else
      context.responseBody.map[InputStream] { body =>
        wanted.decode(body)
        body.close()
        new ByteArrayInputStream(CborAnswers.Empty)
      }
  }
}
