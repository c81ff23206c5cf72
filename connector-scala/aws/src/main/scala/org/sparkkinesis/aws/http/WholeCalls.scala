package org.sparkkinesis.aws.http

import java.io.{ByteArrayOutputStream, IOException, InterruptedIOException}
import java.net.SocketTimeoutException
import java.nio.ByteBuffer
import java.util.Optional
import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.http.async.{
  AsyncExecuteRequest, SdkAsyncHttpClient, SdkAsyncHttpResponseHandler, SdkHttpContentPublisher
}
import software.amazon.awssdk.http.{SdkHttpRequest, SdkHttpResponse}

import org.sparkkinesis.concurrent.Futures

/** A response with its whole content, which may be that of an error. */
final private[aws] case class WholeResponse(head: SdkHttpResponse, content: Array[Byte])

/**
 * Calls with small contents, for which the calling thread waits: those for credentials and metadata. Thread-safe.
 *
 * @param http
 *   not owned
 * @param timeout
 *   maximum time of a call
 * @param maxBytes
 *   maximum size of a response
 */
final private[aws] class WholeCalls(http: SdkAsyncHttpClient, timeout: FiniteDuration, maxBytes: Int) {

  /** A call in progress. */
  final class Running(request: SdkHttpRequest, content: Array[Byte]) {
    private val answer = new Collector
    private val exchange = http.execute(
      AsyncExecuteRequest.builder().request(request).requestContentPublisher(new OneContent(content))
        .responseHandler(answer).build()
    )

    exchange.whenComplete((_, error) => if (error != null) answer.onError(error))

    /** Waits for the response. An interrupt ends the call. */
    @throws[IOException]
    def await(): WholeResponse =
      try answer.result.get(timeout.toNanos, TimeUnit.NANOSECONDS)
      catch {
        case _: TimeoutException =>
          throw new SocketTimeoutException(s"There was no complete response within $timeout")
        case failed: ExecutionException =>
          Futures.unwrap(failed) match {
            case io: IOException => throw io
            case other => throw new IOException(s"The request failed: ${other.getMessage}", other)
          }
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          throw new InterruptedIOException("The call was interrupted")
      } finally abort()

    /** Closes the connection if the response is not complete. Otherwise the client is returning it to its pool. */
    def abort(): Unit = if (!answer.result.isDone || answer.result.isCompletedExceptionally) {
      exchange.cancel(true)
      ()
    }
  }

  def start(request: SdkHttpRequest, content: Array[Byte]): Running = new Running(request, content)

  final private class Collector extends SdkAsyncHttpResponseHandler {
    val result = new CompletableFuture[WholeResponse]
    @volatile private var head: SdkHttpResponse = null

    override def onHeaders(headers: SdkHttpResponse): Unit = head = headers
    override def onError(error: Throwable): Unit = {
      result.completeExceptionally(error)
      ()
    }
    override def onStream(stream: Publisher[ByteBuffer]): Unit = stream.subscribe(new Subscriber[ByteBuffer] {
      private val bytes = new ByteArrayOutputStream
      private var upstream: Subscription = null

      override def onSubscribe(subscription: Subscription): Unit = {
        upstream = subscription
        subscription.request(Long.MaxValue)
      }
      override def onNext(part: ByteBuffer): Unit = {
        val chunk = new Array[Byte](part.remaining)
        part.get(chunk)
        bytes.writeBytes(chunk)
        if (bytes.size > maxBytes) {
          // First, because the cancellation is an error of its own.
          Collector.this.onError(new IOException(s"The response is longer than the accepted $maxBytes bytes"))
          upstream.cancel()
        }
      }
      override def onError(error: Throwable): Unit = Collector.this.onError(error)
      override def onComplete(): Unit = {
        result.complete(WholeResponse(head, bytes.toByteArray))
        ()
      }
    })
  }

  final private class OneContent(content: Array[Byte]) extends SdkHttpContentPublisher {
    override def contentLength(): Optional[java.lang.Long] = Optional.of(content.length.toLong)
    override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = subscriber.onSubscribe(new Subscription {
      private var isDone = false
      override def request(n: Long): Unit = if (!isDone) {
        isDone = true
        subscriber.onNext(ByteBuffer.wrap(content))
        subscriber.onComplete()
      }
      override def cancel(): Unit = isDone = true
    })
  }
}
