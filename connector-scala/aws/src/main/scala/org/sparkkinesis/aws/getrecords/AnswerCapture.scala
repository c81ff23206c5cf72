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
 * Holds the body of one call's answer, for those who read it better than the SDK does. Written on the thread that receives it, read
 * when the call is complete.
 */
final private[aws] class CapturedAnswer {
  private var buffers: mutable.ArrayBuffer[ByteBuffer] = null
  private var checksum = Option.empty[Long]

  /** Whether there is one: a refused call's is left to the SDK, as is one that is no plain CBOR. */
  def isPresent: Boolean = buffers != null

  /** @throws IOException when the answer is not what the service says that it sent */
  def body: IndexedSeq[ByteBuffer] = {
    checksum.foreach { expected =>
      val actual = new CRC32
      buffers.foreach(buffer => actual.update(buffer.duplicate()))
      if (actual.getValue != expected) throw new IOException("an answer with a wrong checksum")
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
 * Gives the SDK an empty answer in the place of one that a call wants to have captured. All else is the SDK's: credentials, endpoint,
 * signature, time limits, and every answer that tells of an error.
 */
private[aws] object AnswerCapture extends ExecutionInterceptor {

  /** Set in the configuration of a request whose answer is to be captured. */
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
      // The SDK would compare it with what it gets to see.
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

  /** One buffer for each that comes, so that demand stays what it is: an empty map, then nothing. */
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
