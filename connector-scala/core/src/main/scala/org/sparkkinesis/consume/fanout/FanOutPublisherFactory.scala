package org.sparkkinesis.consume.fanout

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.consume.{MissingResources, RecordPublisher, RecordPublisherFactory, RecordSubscriber}
import org.sparkkinesis.event.{ConsumerMetrics, EventSink, OngoingOutage}
import org.sparkkinesis.model.{StartingPosition, StreamShard}
import org.sparkkinesis.retry.{Jitter, Outages, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, Operation, ServiceException}

/**
 * Creates enhanced fan-out publishers for several streams.
 *
 * @param service
 *   returns the service for the stream of a shard
 * @param consumerArn
 *   returns the ARN of the registered consumer for the stream of a shard
 * @param random
 *   returns the jitter in `[0, 1)`
 * @param listener
 *   receives the publishers' events in addition to `metrics`
 */
final class FanOutPublisherFactory(
    service: StreamShard => KinesisService,
    consumerArn: StreamShard => String,
    private[fanout] val settings: FanOutSettings,
    policies: RetryPolicies,
    private[fanout] val rules: RetryRules,
    private[fanout] val scheduler: Scheduler,
    metrics: ConsumerMetrics,
    private[fanout] val random: () => Double = Jitter.random,
    listener: EventSink = EventSink.Discard
) extends RecordPublisherFactory {
  private[fanout] val policy = policies(Operation.SubscribeToShard)
  private[fanout] val events = EventSink.all(metrics, listener)
  private[fanout] val failing = new Outages(scheduler, events)
  private[fanout] val missing = new MissingResources(scheduler, rules)

  override def unreachable: Set[String] = failing.unreachable
  override def outages: Seq[OngoingOutage] = failing.ongoing

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    new FanOutRecordPublisher(service(shard), shard, consumerArn(shard), position, subscriber, this)

  private[fanout] def unexpected(failure: Throwable): ServiceException =
    ServiceException.unexpected(Operation.SubscribeToShard, failure)
}
