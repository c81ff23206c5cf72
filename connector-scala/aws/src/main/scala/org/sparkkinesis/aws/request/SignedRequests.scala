package org.sparkkinesis.aws.request

import java.io.ByteArrayInputStream
import java.net.URI
import java.nio.ByteBuffer
import java.util.Optional
import java.util.concurrent.CompletableFuture

import org.reactivestreams.{Publisher, Subscriber, Subscription}
import software.amazon.awssdk.http.async.{
  AsyncExecuteRequest, SdkAsyncHttpClient, SdkAsyncHttpResponseHandler, SdkHttpContentPublisher
}
import software.amazon.awssdk.http.auth.aws.signer.{AwsV4FamilyHttpSigner, AwsV4HttpSigner}
import software.amazon.awssdk.http.auth.spi.signer.{HttpSigner, SignRequest}
import software.amazon.awssdk.http.{
  ContentStreamProvider,
  SdkHttpMethod,
  SdkHttpRequest,
  SdkHttpResponse
}
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity

/**
 * The content of a request: the first `length` bytes of an array, which must not change until the request has ended.
 *
 * @param contentType
 *   media type, such as `application/x-amz-json-1.1`
 */
final private[aws] case class RequestContent(contentType: String, bytes: Array[Byte], length: Int)

private[aws] object RequestContent {

  /** Content of the JSON 1.1 protocol. */
  def json(bytes: Array[Byte]): RequestContent = RequestContent("application/x-amz-json-1.1", bytes, bytes.length)
}

/**
 * Sends requests with the SDK's signer and HTTP client, but without the SDK's client: for subscriptions, for which the
 * SDK's client needs too much memory.
 *
 * @param service
 *   name of the service in signatures
 * @param http
 *   not owned
 * @param caller
 *   the `User-Agent`
 */
final private[aws] class SignedRequests(
    service: String,
    region: String,
    http: SdkAsyncHttpClient,
    clock: SigningClock,
    caller: String
) {
  private val signer = AwsV4HttpSigner.create()

  /**
   * Sends a request.
   *
   * @param target
   *   version of the API and operation
   */
  def send(
      identity: AwsCredentialsIdentity,
      endpoint: URI,
      target: String,
      content: RequestContent,
      handler: SdkAsyncHttpResponseHandler
  ): CompletableFuture[Void] = {
    val request = SdkHttpRequest
      .builder()
      .method(SdkHttpMethod.POST)
      .uri(endpoint)
      .putHeader("Content-Type", content.contentType)
      .putHeader("Content-Length", content.length.toString)
      .putHeader("X-Amz-Target", target)
      .putHeader("User-Agent", caller)
      .build()
    val payload: ContentStreamProvider = () => new ByteArrayInputStream(content.bytes, 0, content.length)
    val signed = signer.sign(
      SignRequest
        .builder(identity)
        .request(request)
        .payload(payload)
        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, service)
        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
        .putProperty(HttpSigner.SIGNING_CLOCK, clock.current)
        .build()
    )
    http.execute(
      AsyncExecuteRequest
        .builder()
        .request(signed.request)
        .requestContentPublisher(new OneBuffer(content))
        .responseHandler(new Dated(handler))
        .build()
    )
  }

  /** Tells the clock of signatures what time the service has. */
  final private class Dated(handler: SdkAsyncHttpResponseHandler) extends SdkAsyncHttpResponseHandler {
    override def onHeaders(headers: SdkHttpResponse): Unit = {
      clock.answered(headers)
      handler.onHeaders(headers)
    }
    override def onStream(stream: Publisher[ByteBuffer]): Unit = handler.onStream(stream)
    override def onError(error: Throwable): Unit = handler.onError(error)
  }

  final private class OneBuffer(content: RequestContent) extends SdkHttpContentPublisher {
    override def contentLength(): Optional[java.lang.Long] = Optional.of(content.length.toLong)
    override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = subscriber.onSubscribe(new Subscription {
      private var isDone = false
      override def request(n: Long): Unit = if (!isDone) {
        isDone = true
        subscriber.onNext(ByteBuffer.wrap(content.bytes, 0, content.length))
        subscriber.onComplete()
      }
      override def cancel(): Unit = isDone = true
    })
  }
}
