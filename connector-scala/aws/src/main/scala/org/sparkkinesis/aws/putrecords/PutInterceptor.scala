package org.sparkkinesis.aws.putrecords

import java.nio.ByteBuffer
import java.util.Optional

import org.reactivestreams.Publisher
import software.amazon.awssdk.core.async.AsyncRequestBody
import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttribute, ExecutionAttributes, ExecutionInterceptor}
import software.amazon.awssdk.http.{SdkHttpRequest, SdkHttpResponse}

import org.sparkkinesis.aws.record.{CborAnswer, CborAnswers}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.{PutEntry, PutResult}

/** The records of one PutRecords call, and its results. One thread at a time uses it. */
final private[aws] class PutCall(stream: StreamRef, entries: IndexedSeq[PutEntry]) extends CborAnswer {

  /** The encoded records. */
  private[putrecords] lazy val body = PutBody.of(stream, entries)
  private[putrecords] var decoded = Option.empty[IndexedSeq[PutResult]]

  /** The results, or `None` if the connector did not decode the response, which the SDK has decoded then. */
  def results: Option[IndexedSeq[PutResult]] = decoded
}

/**
 * Gives the SDK the content of a PutRecords request that has a [[PutCall]], and decodes its response. The SDK remains
 * responsible for credentials, endpoint, signature, timeouts and error responses.
 */
private[aws] object PutInterceptor extends ExecutionInterceptor {

  /** Execution attribute of a request whose records are in its [[PutCall]] and not in the request. */
  val Call: ExecutionAttribute[PutCall] = new ExecutionAttribute[PutCall]("spark-kinesis-put")

  /** The SDK would read the stream of a synchronous content into an array of its own, which grows while it reads. */
  override def modifyAsyncHttpContent(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): Optional[AsyncRequestBody] = {
    val call = attributes.getAttribute(Call)
    if (call == null) context.asyncRequestBody else Optional.of(new PutContent(call.body))
  }

  override def modifyHttpRequest(
      context: Context.ModifyHttpRequest,
      attributes: ExecutionAttributes
  ): SdkHttpRequest = {
    val call = attributes.getAttribute(Call)
    if (call == null) context.httpRequest
    else {
      val body = call.body
      context.httpRequest.toBuilder
        .putHeader("Content-Type", PutBody.ContentType)
        .putHeader("Content-Length", body.length.toString)
        .build()
    }
  }

  override def modifyHttpResponse(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): SdkHttpResponse = CborAnswers.begin(attributes.getAttribute(Call), context.httpResponse)

  override def modifyAsyncHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[Publisher[ByteBuffer]] = {
    val call = attributes.getAttribute(Call)
    if (call == null || !call.isBegun) context.responsePublisher
    else context.responsePublisher.map[Publisher[ByteBuffer]](new CollectedAnswer(_, call))
  }
}
