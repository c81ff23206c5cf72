package org.sparkkinesis.aws.subscription

import java.net.URI
import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.endpoints.{KinesisEndpointParams, KinesisEndpointProvider}

import org.sparkkinesis.aws.request.SignedRequests
import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.ServiceErrorKind.Internal
import org.sparkkinesis.service.{ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent}

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
  private val requests = new SignedRequests("kinesis", region.id, http)
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
        catch {
          case error: Throwable =>
            call.fail(error)
            if (!NonFatal(error)) throw error
        }
    }
    call
  }

  /** Reports expired credentials as a temporary failure if other credentials may succeed. */
  final private class Renewing(subscriber: ShardSubscriber) extends ShardSubscriber {
    override def onSubscribed(): Unit = subscriber.onSubscribed()
    override def onEvent(event: SubscribeToShardEvent): Unit = subscriber.onEvent(event)
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

  private def send(
      identity: AwsCredentialsIdentity,
      body: Array[Byte],
      consumerArn: String,
      call: SubscriptionCall
  ): CompletableFuture[Void] = {
    val target = "Kinesis_20131202.SubscribeToShard"
    requests.send(identity, endpoint.getOrElse(endpointOf(consumerArn)), target, body, call)
  }

  private def endpointOf(consumerArn: String): URI = {
    val params = KinesisEndpointParams.builder().region(region).consumerArn(consumerArn).operationType("data").build()
    KinesisEndpointProvider.defaultProvider().resolveEndpoint(params).join().endpointUrl().toUri
  }
}
