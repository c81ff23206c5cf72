package org.sparkkinesis.aws.subscription

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.identity.spi.{AwsCredentialsIdentity, IdentityProvider}

import org.sparkkinesis.aws.request.{KinesisEndpoints, RequestContent, SignedRequests, SigningClock}
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
 *   whether a call that failed with this error may succeed with other credentials or another time
 */
final private[aws] class SubscriptionTransport(
    endpoints: KinesisEndpoints,
    credentials: IdentityProvider[AwsCredentialsIdentity],
    http: SdkAsyncHttpClient,
    clock: SigningClock,
    mayRenew: ServiceException => Boolean = _ => false
) {
  private val requests = new SignedRequests("kinesis", endpoints.region.id, http, clock)
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

  /** Returns a subscriber to which expired credentials are a temporary failure if others may succeed. */
  def renewing(subscriber: ShardSubscriber): ShardSubscriber = new Renewing(subscriber)

  /** Reports expired credentials or a wrong time as a temporary failure if another call may succeed. */
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
    requests.send(identity, endpoints.ofConsumer(consumerArn), target, RequestContent.json(body), call)
  }
}
