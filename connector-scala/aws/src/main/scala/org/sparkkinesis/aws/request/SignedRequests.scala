package org.sparkkinesis.aws.request

import java.io.ByteArrayInputStream
import java.net.URI
import java.nio.ByteBuffer
import java.util.Optional
import java.util.concurrent.CompletableFuture

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.http.async.{
  AsyncExecuteRequest, SdkAsyncHttpClient, SdkAsyncHttpResponseHandler, SdkHttpContentPublisher
}
import software.amazon.awssdk.http.auth.aws.signer.{AwsV4FamilyHttpSigner, AwsV4HttpSigner}
import software.amazon.awssdk.http.auth.spi.signer.SignRequest
import software.amazon.awssdk.http.{ContentStreamProvider, SdkHttpExecutionAttributes, SdkHttpMethod, SdkHttpRequest}
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity

import org.sparkkinesis.aws.http.HttpExchange

/**
 * Sends requests with the JSON 1.1 protocol for which the SDK has no client here, with the SDK's signer and HTTP
 * client.
 *
 * @param service
 *   name of the service in signatures
 * @param http
 *   not owned
 */
final private[aws] class SignedRequests(service: String, region: String, http: SdkAsyncHttpClient) {
  private val signer = AwsV4HttpSigner.create()

  /**
   * Sends a request.
   *
   * @param target
   *   version of the API and operation
   * @param exchange
   *   the exchange that ends the request, if it can be ended
   */
  def send(
      identity: AwsCredentialsIdentity,
      endpoint: URI,
      target: String,
      body: Array[Byte],
      handler: SdkAsyncHttpResponseHandler,
      exchange: Option[HttpExchange] = None
  ): CompletableFuture[Void] = {
    val request = SdkHttpRequest
      .builder()
      .method(SdkHttpMethod.POST)
      .uri(endpoint)
      .putHeader("Content-Type", "application/x-amz-json-1.1")
      .putHeader("Content-Length", body.length.toString)
      .putHeader("X-Amz-Target", target)
      .putHeader("User-Agent", "spark-kinesis")
      .build()
    val payload: ContentStreamProvider = () => new ByteArrayInputStream(body)
    val signed = signer.sign(
      SignRequest
        .builder(identity)
        .request(request)
        .payload(payload)
        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, service)
        .putProperty(AwsV4HttpSigner.REGION_NAME, region)
        .build()
    )
    http.execute(
      AsyncExecuteRequest
        .builder()
        .request(signed.request)
        .requestContentPublisher(new OneBuffer(body))
        .responseHandler(handler)
        .httpExecutionAttributes(exchange.fold(SdkHttpExecutionAttributes.builder().build())(_.attributes))
        .build()
    )
  }

  final private class OneBuffer(body: Array[Byte]) extends SdkHttpContentPublisher {
    override def contentLength(): Optional[java.lang.Long] = Optional.of(body.length.toLong)
    override def subscribe(subscriber: Subscriber[_ >: ByteBuffer]): Unit = subscriber.onSubscribe(new Subscription {
      private var isDone = false
      override def request(n: Long): Unit = if (!isDone) {
        isDone = true
        subscriber.onNext(ByteBuffer.wrap(body))
        subscriber.onComplete()
      }
      override def cancel(): Unit = isDone = true
    })
  }
}
