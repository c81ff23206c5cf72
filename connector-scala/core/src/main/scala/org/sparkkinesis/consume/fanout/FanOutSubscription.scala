package org.sparkkinesis.consume.fanout

import java.util.concurrent.Executor

import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.{
  KinesisService, ServiceException, ShardSubscriber, ShardSubscription, SubscribeToShardEvent
}

/**
 * One SubscribeToShard call and its state: pending, active, or over. Its callbacks arrive on the client's event loop.
 * They run on `steps` and reach the owner only while this is the owner's current subscription.
 */
final private[fanout] class FanOutSubscription(
    owner: FanOutSubscription.Owner,
    steps: Executor,
    val openedNanos: Long
) extends ShardSubscriber {
  private var handle: Option[ShardSubscription] = None

  // The fields below are accessed on `steps` only.

  /** Time when the service accepted the subscription. It refuses another one for a while after that. */
  var activeNanos: Option[Long] = None
  var hadEvent = false

  /** Number of requested events that have not arrived. */
  var inFlight = 0

  def open(service: KinesisService, consumerArn: String, shard: ShardId, position: StartingPosition): Unit =
    handle = Some(service.subscribeToShard(consumerArn, shard, position, this))

  /** Requests events until `wanted` events are in flight. */
  def request(wanted: Int): Unit = if (wanted > inFlight) {
    val more = wanted - inFlight
    inFlight = wanted
    handle.foreach(_.request(more.toLong))
  }

  /** Requests one more event after the last event of the shard, so that back-pressure cannot delay completion. */
  def finish(): Unit = request(inFlight + 1)

  def cancel(): Unit = handle.foreach(_.cancel())

  override def onSubscribed(): Unit = whileCurrent(owner.subscribed(this))
  override def onEvent(event: SubscribeToShardEvent): Unit = whileCurrent(owner.received(this, event))
  override def onError(error: ServiceException): Unit = whileCurrent(owner.failed(this, error))
  override def onComplete(): Unit = whileCurrent(owner.completed(this))

  private def whileCurrent(step: => Unit): Unit = steps.execute(() => if (owner.isCurrent(this)) step)
}

private[fanout] object FanOutSubscription {

  /** The publisher that opened the subscription. Its methods are called on `steps`. */
  trait Owner {
    def isCurrent(subscription: FanOutSubscription): Boolean
    def subscribed(subscription: FanOutSubscription): Unit
    def received(subscription: FanOutSubscription, event: SubscribeToShardEvent): Unit
    def failed(subscription: FanOutSubscription, error: ServiceException): Unit
    def completed(subscription: FanOutSubscription): Unit
  }
}
