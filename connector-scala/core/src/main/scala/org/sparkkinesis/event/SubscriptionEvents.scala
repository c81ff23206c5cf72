package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{place, seconds}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}

/** Events of enhanced fan-out subscriptions and of registered consumers. */
sealed abstract class SubscriptionEvent extends ConnectorEvent(EventSubject.Subscription)

/** The subscription of a shard changed. Emitted on an executor. */
sealed abstract class ShardSubscriptionEvent(of: StreamShard) extends SubscriptionEvent {
  override def stream: Option[String] = Some(of.stream)
  override def shard: Option[ShardId] = Some(of.shard)
}

/** The connector calls SubscribeToShard. */
final case class SubscriptionRequested(of: StreamShard, position: StartingPosition) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription requested ${place(position)}"
}

/** The service accepted the subscription. */
final case class SubscriptionOpened(of: StreamShard) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = "Subscription opened"
}

/** The subscription completed, which happens after five minutes, and is replaced. */
final case class SubscriptionRenewed(of: StreamShard, ageMillis: Long) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription ended after ${seconds(ageMillis)} and is renewed"
}

/** The subscription failed or was rejected, and is replaced. */
final case class SubscriptionLost(of: StreamShard, failures: Int, reason: String) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription lost (failure $failures in a row) and requested again: $reason"
}

/**
 * An active subscription ended because another subscription of the same consumer started. This happens once when a
 * shard moves to another executor. If it repeats, another query uses the same consumer.
 *
 * @param times
 *   the number of takeovers of this shard's subscription since one completed normally, counted from 1
 */
final case class SubscriptionTakenOver(of: StreamShard, times: Int) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = if (times == 1) EventLevel.Debug else EventLevel.Warn
  override def message: String =
    if (times == 1) "Another subscription of the same consumer replaced this one"
    else
      s"Other subscriptions of the same consumer have replaced this one $times times. Another query uses this " +
        "consumer: set a separate 'consumerName' for each query"
}

/** A registered consumer of a stream changed. Emitted on the driver. */
sealed abstract class ConsumerEvent(streamArn: String) extends SubscriptionEvent {
  override def stream: Option[String] = Some(streamArn)
}

final case class ConsumerRegistered(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn registered"
}

/** The consumer is active, and subscriptions can be opened. */
final case class ConsumerReady(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn is active"
}

/** An earlier run of the query registered the consumer, so this run deregisters it. */
final case class ConsumerAdopted(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn was registered by an earlier run of this query"
}

final case class ConsumerDeregistered(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn deregistered"
}

/** The query ended, and its consumer remains registered. */
final case class ConsumerLeft(streamArn: String, consumerArn: String, reason: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Warn
  override def limitKey: Any = (getClass, consumerArn)
  override def message: String = s"Consumer $consumerArn could not be deregistered: $reason. " +
    "It remains registered, and AWS bills it, until you deregister it"
}

/** The file beside the checkpoint that lists the registered consumers could not be updated. */
final case class ConsumersNotRecorded(streamArn: String, failure: Throwable) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Warn
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = "The list of registered consumers beside the checkpoint could not be updated"
}
