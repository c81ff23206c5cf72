package org.sparkkinesis.aws.subscription

import java.io.ByteArrayInputStream
import java.net.URI
import java.nio.ByteBuffer
import java.util.Optional

import scala.util.control.NonFatal

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.http.async.{AsyncExecuteRequest, SdkAsyncHttpClient, SdkHttpContentPublisher}
import software.amazon.awssdk.http.auth.aws.signer.{AwsV4FamilyHttpSigner, AwsV4HttpSigner}
import software.amazon.awssdk.http.auth.spi.signer.SignRequest
import software.amazon.awssdk.http.{ContentStreamProvider, SdkHttpMethod, SdkHttpRequest}
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.endpoints.{KinesisEndpointParams, KinesisEndpointProvider}

import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.ServiceErrorKind.Internal
import org.sparkkinesis.service.{ServiceException, ShardEvent, ShardSubscriber, ShardSubscription}

/**
 * Sends SubscribeToShard calls with the SDK's endpoint rules, signer and HTTP client. It does not use the SDK's event
 * stream, which allocates 2 MiB for each subscription (see [[EventStreamDecoder]]).
 *
 * @param http
 *   HTTP/2 client; not owned
 * @param mayRenew
 *   whether a call that failed with this error may succeed with other credentials
 */
final private[aws] class SubscriptionTransport(
    region: Region,
    endpoint: Option[URI],
    credentials: IdentityProvider[AwsCredentialsIdentity],
    http: SdkAsyncHttpClient,
    mayRenew: ServiceException => Boolean = _ => false
) {
  private val signer = AwsV4HttpSigner.create()
  private val buffers = new MessageBuffers

  def subscribe(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = {
    val call = new SubscriptionCall(new Renewing(subscriber), buffers)
    credentials.resolveIdentity().whenComplete { (identity, failure) =>
      if (failure != null) call.fail(failure)
      else
        try call.follow(send(identity, SubscriptionJson.request(consumerArn, shard, position), consumerArn, call))
        catch { case NonFatal(error) => call.fail(error) }
    }
    call
  }

  /** Reports expired credentials as a temporary failure if other credentials may succeed. */
  final private class Renewing(subscriber: ShardSubscriber) extends ShardSubscriber {
    override def onSubscribed(): Unit = subscriber.onSubscribed()
    override def onEvent(event: ShardEvent): Unit = subscriber.onEvent(event)
    override def onComplete(): Unit = subscriber.onComplete()
    override def onError(error: ServiceException): Unit = subscriber.onError(
      if (!mayRenew(error)) error
      else
        new ServiceException(Internal, error.operation, error.errorCode, error.detail, error.requestId, error)
    )
  }

  /** Returns a call that fails with `error` and sends nothing. */
  def refuse(subscriber: ShardSubscriber, error: Throwable): ShardSubscription = {
    val call = new SubscriptionCall(subscriber, buffers)
    call.fail(error)
    call
  }

  private def send(identity: AwsCredentialsIdentity, body: Array[Byte], consumerArn: String, call: SubscriptionCall) = {
    val request = SdkHttpRequest
      .builder()
      .method(SdkHttpMethod.POST)
      .uri(endpoint.getOrElse(endpointOf(consumerArn)))
      .putHeader("Content-Type", "application/x-amz-json-1.1")
      .putHeader("Content-Length", body.length.toString)
      .putHeader("X-Amz-Target", "Kinesis_20131202.SubscribeToShard")
      .putHeader("User-Agent", "spark-kinesis")
      .build()
    val payload: ContentStreamProvider = () => new ByteArrayInputStream(body)
    val signed = signer.sign(
      SignRequest
        .builder(identity)
        .request(request)
        .payload(payload)
        .putProperty(AwsV4FamilyHttpSigner.SERVICE_SIGNING_NAME, "kinesis")
        .putProperty(AwsV4HttpSigner.REGION_NAME, region.id)
        .build()
    )
    http.execute(
      AsyncExecuteRequest
        .builder()
        .request(signed.request)
        .requestContentPublisher(new OneBuffer(body))
        .responseHandler(call)
        .build()
    )
  }

  private def endpointOf(consumerArn: String): URI = {
    val params = KinesisEndpointParams.builder().region(region).consumerArn(consumerArn).operationType("data").build()
    KinesisEndpointProvider.defaultProvider().resolveEndpoint(params).join().endpointUrl().toUri
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
