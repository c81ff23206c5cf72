package org.sparkkinesis.aws.getrecords

import java.io.IOException
import java.nio.ByteBuffer
import java.util.Optional
import java.util.zip.CRC32

import scala.collection.mutable

import org.reactivestreams.Publisher
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.core.interceptor.{Context, ExecutionAttribute, ExecutionAttributes, ExecutionInterceptor}
import software.amazon.awssdk.http.SdkHttpResponse

/**
 * Holds the response body of one call, so that the connector can decode it instead of the SDK. The receiving thread
 * writes it; it is read after the call has completed.
 */
final private[aws] class CapturedAnswer {
  private var buffers: mutable.ArrayBuffer[ByteBuffer] = null
  private var checksum = Option.empty[Long]

  /** True if the body was captured. The SDK decodes error responses, and responses that are not plain CBOR. */
  def isPresent: Boolean = buffers != null

  /** @throws IOException if the checksum of the body is wrong */
  def body: IndexedSeq[ByteBuffer] = {
    checksum.foreach { expected =>
      val actual = new CRC32
      buffers.foreach(buffer => actual.update(buffer.duplicate()))
      if (actual.getValue != expected) throw new IOException("The checksum of the response is wrong")
    }
    buffers.toVector
  }

  private[getrecords] def begin(expectedChecksum: Option[Long]): Unit = {
    buffers = mutable.ArrayBuffer.empty
    checksum = expectedChecksum
  }

  private[getrecords] def add(buffer: ByteBuffer): Unit = buffers += (if (buffer.hasArray) buffer else copy(buffer))

  private def copy(buffer: ByteBuffer): ByteBuffer = {
    val copied = ByteBuffer.allocate(buffer.remaining)
    copied.put(buffer.duplicate()).flip()
  }
}

/**
 * Captures the body of a response if the request asks for it, and passes an empty response to the SDK. The SDK remains
 * responsible for credentials, endpoint, signature, timeouts and error responses.
 */
private[aws] object AnswerCapture extends ExecutionInterceptor {

  /** Execution attribute of a request whose response is captured. */
  val Wanted: ExecutionAttribute[CapturedAnswer] = new ExecutionAttribute[CapturedAnswer]("spark-kinesis-answer")

  private val ChecksumHeader = "x-amz-crc32"
  private val EmptyMap: Byte = 0xa0.toByte

  override def modifyHttpResponse(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): SdkHttpResponse = {
    val response = context.httpResponse
    val wanted = attributes.getAttribute(Wanted)
    if (wanted != null && response.isSuccessful && isPlainCbor(response)) {
      wanted.begin(Option(response.firstMatchingHeader(ChecksumHeader).orElse(null)).map(_.toLong))
      // The SDK would compare the checksum with that of the empty response.
      response.toBuilder.removeHeader(ChecksumHeader).build()
    } else response
  }

  override def modifyAsyncHttpResponseContent(
      context: Context.ModifyHttpResponse,
      attributes: ExecutionAttributes
  ): Optional[Publisher[ByteBuffer]] = {
    val wanted = attributes.getAttribute(Wanted)
    if (wanted == null || !wanted.isPresent) context.responsePublisher
    else context.responsePublisher.map[Publisher[ByteBuffer]](publisher => captured(publisher, wanted))
  }

  /**
   * Replaces each received buffer by one buffer, so that demand is unchanged: first an empty map, then empty buffers.
   */
  private def captured(publisher: Publisher[ByteBuffer], into: CapturedAnswer): Publisher[ByteBuffer] = {
    var isFirst = true
    SdkPublisher.adapt(publisher).map[ByteBuffer] { buffer =>
      into.add(buffer)
      val shown = if (isFirst) ByteBuffer.wrap(Array(EmptyMap)) else ByteBuffer.allocate(0)
      isFirst = false
      shown
    }
  }

  private def isPlainCbor(response: SdkHttpResponse): Boolean =
    response.firstMatchingHeader("Content-Type").map[Boolean](_.startsWith("application/x-amz-cbor")).orElse(false) &&
      !response.firstMatchingHeader("Content-Encoding").isPresent
}
