package org.sparkkinesis.aws.request

import java.nio.ByteBuffer
import java.util.concurrent.CompletableFuture

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.http.SdkHttpResponse
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler

import org.sparkkinesis.aws.http.BodyBytes
import org.sparkkinesis.service.Operation

/** Collects the body of one answer. The HTTP client calls it on one thread at a time. */
final private[request] class JsonAnswer(operation: Operation) extends SdkAsyncHttpResponseHandler {
  @volatile private var response: SdkHttpResponse = null
  private val bytes = new BodyBytes(-1)

  /** The body of a successful answer, or the error that the service answered. */
  val body = new CompletableFuture[Array[Byte]]

  override def onHeaders(headers: SdkHttpResponse): Unit = response = headers
  override def onError(error: Throwable): Unit = fail(error)

  override def onStream(stream: Publisher[ByteBuffer]): Unit = stream.subscribe(new Subscriber[ByteBuffer] {
    override def onSubscribe(subscription: Subscription): Unit = subscription.request(Long.MaxValue)
    override def onError(error: Throwable): Unit = fail(error)
    override def onNext(part: ByteBuffer): Unit = bytes.add(part)
    override def onComplete(): Unit = {
      val all = bytes.toArray
      if (response.isSuccessful) body.complete(all)
      else body.completeExceptionally(ErrorAnswer.of(operation, response, all))
      ()
    }
  })

  def fail(error: Throwable): Unit = {
    body.completeExceptionally(error)
    ()
  }
}
