package org.sparkkinesis.event

import org.sparkkinesis.event.EventText.{place, seconds}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}

/** What happens to enhanced fan-out subscriptions, and to the registered consumers that they belong to. */
sealed abstract class SubscriptionEvent extends ConnectorEvent(EventSubject.Subscription)

/** A subscription of one shard changed; told by an executor. */
sealed abstract class ShardSubscriptionEvent(of: StreamShard) extends SubscriptionEvent {
  override def stream: Option[String] = Some(of.stream)
  override def shard: Option[ShardId] = Some(of.shard)
}

/** SubscribeToShard is called. */
final case class SubscriptionRequested(of: StreamShard, position: StartingPosition) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription requested ${place(position)}"
}

/** The service has accepted the subscription. */
final case class SubscriptionOpened(of: StreamShard) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = "Subscription opened"
}

/** The subscription ended in an orderly way, as each does after five minutes, and the next one follows. */
final case class SubscriptionRenewed(of: StreamShard, ageMillis: Long) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription ended after ${seconds(ageMillis)} and is renewed"
}

/** The subscription failed, or was not accepted, and another one follows. */
final case class SubscriptionLost(of: StreamShard, failures: Int, reason: String) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Debug
  override def message: String = s"Subscription lost (failure $failures in a row) and requested again: $reason"
}

/** A subscription that was active ended because another one of the same consumer began. */
final case class SubscriptionTakenOver(of: StreamShard) extends ShardSubscriptionEvent(of) {
  override def level: EventLevel = EventLevel.Warn
  override def message: String = "Another subscription of the same consumer took this one over. " +
    "If another query uses this consumer, give each query a consumer of its own"
}

/** A registered consumer of a stream changed; told by the driver. */
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

/** An earlier run of the query registered the consumer, so this one will deregister it. */
final case class ConsumerAdopted(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn was registered by an earlier run of this query"
}

final case class ConsumerDeregistered(streamArn: String, consumerArn: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Info
  override def message: String = s"Consumer $consumerArn deregistered"
}

/** The query has ended and its consumer remains. */
final case class ConsumerLeft(streamArn: String, consumerArn: String, reason: String) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Warn
  override def limitKey: Any = (getClass, consumerArn)
  override def message: String = s"Consumer $consumerArn could not be deregistered: $reason. " +
    "It remains registered, and AWS bills it, until you deregister it"
}

/** The file beside the checkpoint that lists the registered consumers could not be changed. */
final case class ConsumersNotRecorded(streamArn: String, failure: Throwable) extends ConsumerEvent(streamArn) {
  override def level: EventLevel = EventLevel.Warn
  override def cause: Option[Throwable] = Some(failure)
  override def message: String = "The list of registered consumers beside the checkpoint could not be updated"
}
