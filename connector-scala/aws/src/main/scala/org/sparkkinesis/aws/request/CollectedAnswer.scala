package org.sparkkinesis.aws.request

import java.io.{ByteArrayInputStream, IOException}
import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture
import java.util.zip.{CRC32, GZIPInputStream}

import scala.util.control.NonFatal

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler

import org.sparkkinesis.aws.http.BodyBytes
import org.sparkkinesis.service.Operation

/**
 * A successful answer.
 *
 * @param contentType
 *   media type of the content, or an empty text if the service does not say it
 * @param content
 *   the content without compression
 */
final private[aws] case class ServiceAnswer(contentType: String, content: Array[Byte])

/** Collects the content of one answer. The HTTP client calls it on one thread at a time. */
final private[request] class CollectedAnswer(operation: Operation) extends SdkAsyncHttpResponseHandler {
  import CollectedAnswer._

  @volatile private var response: SdkHttpResponse = null

  /**
   * The successful answer, or the error that the service answered. A content with a wrong checksum fails like a lost
   * answer, because the service may have done what the request asks for.
   */
  val result = new CompletableFuture[ServiceAnswer]

  override def onHeaders(headers: SdkHttpResponse): Unit = response = headers
  override def onError(error: Throwable): Unit = fail(error)

  override def onStream(stream: Publisher[ByteBuffer]): Unit = stream.subscribe(new Subscriber[ByteBuffer] {
    private val bytes = new BodyBytes(header("Content-Length").flatMap(_.toLongOption).getOrElse(-1L))

    override def onSubscribe(subscription: Subscription): Unit = subscription.request(Long.MaxValue)
    override def onError(error: Throwable): Unit = fail(error)
    override def onNext(part: ByteBuffer): Unit = bytes.add(part)
    override def onComplete(): Unit =
      try {
        result.complete(read(bytes.toArray))
        ()
      } catch {
        case error: Throwable =>
          fail(error)
          if (!NonFatal(error)) throw error
      }
  })

  def fail(error: Throwable): Unit = {
    result.completeExceptionally(error)
    ()
  }

  private def read(raw: Array[Byte]): ServiceAnswer = {
    val isZipped = header("Content-Encoding").exists(_.equalsIgnoreCase("gzip"))
    val content = if (isZipped) new GZIPInputStream(new ByteArrayInputStream(raw)).readAllBytes() else raw
    if (!response.isSuccessful) throw ErrorAnswer.of(operation, response, content)
    if (!isZipped && header("x-amz-crc32").exists(_ != checksum(raw).toString))
      throw new IOException("The checksum of the response is wrong")
    ServiceAnswer(header("Content-Type").getOrElse(""), content)
  }

  private def header(name: String): Option[String] = ErrorAnswer.header(response, name)
}

private object CollectedAnswer {
  private def checksum(bytes: Array[Byte]): Long = {
    val crc = new CRC32
    crc.update(bytes)
    crc.getValue
  }
}
