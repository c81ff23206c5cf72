package org.sparkkinesis.consume.fanout

import java.util.concurrent.Executor

import org.sparkkinesis.model.{ShardId, StartingPosition}
import org.sparkkinesis.service.{KinesisService, ServiceException, ShardEvent, ShardSubscriber, ShardSubscription}

/**
 * One SubscribeToShard call and what became of it: pending, then active, then over. Its callbacks, which come on the
 * client's event loop, are handed to `steps` and reach the owner only while this subscription is the current one: what
 * an older one still tells is dropped there.
 */
final private[fanout] class FanOutSubscription(
    owner: FanOutSubscription.Owner,
    steps: Executor,
    val openedNanos: Long
) extends ShardSubscriber {
  private var handle: Option[ShardSubscription] = None

  // Everything below is used on `steps` only.

  /** When the service answered; it refuses another subscription for a while from then on. */
  var activeNanos: Option[Long] = None
  var hadEvent = false

  /** Events asked for that have not come. */
  var inFlight = 0

  def open(service: KinesisService, consumerArn: String, shard: ShardId, position: StartingPosition): Unit =
    handle = Some(service.subscribeToShard(consumerArn, shard, position, this))

  /** Asks for events until so many are in flight. */
  def request(wanted: Int): Unit = if (wanted > inFlight) {
    val more = wanted - inFlight
    inFlight = wanted
    handle.foreach(_.request(more.toLong))
  }

  /** After the shard's last event: the service ends it by itself, which must not be stalled for want of demand. */
  def finish(): Unit = request(inFlight + 1)

  def cancel(): Unit = handle.foreach(_.cancel())

  override def onSubscribed(): Unit = whileCurrent(owner.subscribed(this))
  override def onEvent(event: ShardEvent): Unit = whileCurrent(owner.received(this, event))
  override def onError(error: ServiceException): Unit = whileCurrent(owner.failed(this, error))
  override def onComplete(): Unit = whileCurrent(owner.completed(this))

  private def whileCurrent(step: => Unit): Unit = steps.execute(() => if (owner.isCurrent(this)) step)
}

private[fanout] object FanOutSubscription {

  /** Who opened it; called on `steps`. */
  trait Owner {
    def isCurrent(subscription: FanOutSubscription): Boolean
    def subscribed(subscription: FanOutSubscription): Unit
    def received(subscription: FanOutSubscription, event: ShardEvent): Unit
    def failed(subscription: FanOutSubscription, error: ServiceException): Unit
    def completed(subscription: FanOutSubscription): Unit
  }
}
