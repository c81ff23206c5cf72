package org.sparkkinesis.aws.subscription

import scala.util.control.NonFatal

import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity

import org.sparkkinesis.aws.request.{CallerIdentity, KinesisEndpoints, RequestContent}
import org.sparkkinesis.aws.transport.{Http2Call, Http2Transport, Signature, Target}
import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.{ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent}

/**
 * Sends SubscribeToShard calls with the SDK's endpoint rules over the connector's own transport. It does not use the
 * SDK's event stream, which allocates 2 MiB for each subscription (see [[EventStreamDecoder]]).
 *
 * @param http
 *   not owned
 */
final private[aws] class SubscriptionTransport(
    endpoints: KinesisEndpoints,
    identity: CallerIdentity,
    http: Http2Transport
) {
  private val signature = new Signature("kinesis", endpoints.region.id)
  private val buffers = new MessageBuffers

  def subscribe(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = {
    val call = new SubscriptionCall(new Judged(subscriber), buffers, identity.clock.answered(_))
    identity.credentials.resolveIdentity().whenComplete { (keys, failure) =>
      if (failure != null) call.fail(failure)
      else
        try call.follow(send(
            keys,
            RequestContent.json(SubscriptionJson.request(consumerArn, shard, position)),
            consumerArn,
            call
          ))
        catch {
          case error: Throwable =>
            call.fail(error)
            if (!NonFatal(error)) throw error
        }
    }
    call
  }

  /** Returns a subscriber to which a refused identity is a temporary failure if another call may succeed. */
  def judged(subscriber: ShardSubscriber): ShardSubscriber = new Judged(subscriber)

  /** Reports a refused identity as a temporary failure if another call may succeed. */
  final private class Judged(subscriber: ShardSubscriber) extends ShardSubscriber {
    private val begun = identity.begin()
    override def onSubscribed(): Unit = subscriber.onSubscribed()
    override def onEvent(event: SubscribeToShardEvent): Unit = subscriber.onEvent(event)
    override def onComplete(): Unit = subscriber.onComplete()
    override def onError(error: ServiceException): Unit = subscriber.onError(identity.judge(error, begun).error)
  }

  /** Returns a call that fails with `error` and sends nothing. */
  def refuse(subscriber: ShardSubscriber, error: Throwable): ShardSubscription = {
    val call = new SubscriptionCall(subscriber, buffers)
    call.fail(error)
    call
  }

  private def send(
      keys: AwsCredentialsIdentity,
      content: RequestContent,
      consumerArn: String,
      call: SubscriptionCall
  ): Http2Call = {
    val endpoint = endpoints.ofConsumer(consumerArn)
    val request = signature.sign(
      keys,
      identity.clock.current.instant,
      Target.of(endpoint),
      Signature.pathOf(endpoint),
      content.contentType,
      "Kinesis_20131202.SubscribeToShard",
      content.bytes,
      content.length
    )
    http.send(request, call)
  }
}
