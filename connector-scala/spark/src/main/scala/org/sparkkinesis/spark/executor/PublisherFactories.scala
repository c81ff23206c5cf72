package org.sparkkinesis.spark.executor

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.consume.fanout.{FanOutPublisherFactory, FanOutSettings}
import org.sparkkinesis.consume.poll.PollingPublisherFactory
import org.sparkkinesis.consume.{RecordPublisher, RecordPublisherFactory, RecordSubscriber}
import org.sparkkinesis.event.{ConsumerMetrics, EventSink, OngoingOutage}
import org.sparkkinesis.model.{StartingPosition, StreamShard}
import org.sparkkinesis.service.{KinesisService, ServiceLease}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Creates publishers for one source in one JVM and owns the leases of the shared clients that they use. Closing it
 * returns the leases.
 */
final class PublisherFactories private (
    settings: () => ReadSettings,
    environment: Environment,
    kind: (StreamShard => KinesisService) => RecordPublisherFactory
) extends RecordPublisherFactory
    with AutoCloseable {
  private val leases = new ConcurrentHashMap[ClientSettings, ServiceLease[KinesisService]]
  private val factory = kind(service)

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    factory.subscribe(shard, position, subscriber)

  override def unreachable: Set[String] = factory.unreachable
  override def outages: Seq[OngoingOutage] = factory.outages

  override def close(): Unit = leases.values.asScala.foreach(_.close())

  private def service(shard: StreamShard): KinesisService =
    leases.computeIfAbsent(settings().client(shard.stream), environment.client(_)).service
}

object PublisherFactories {

  /**
   * Creates the kind of publishers that the settings select.
   *
   * @param current
   *   returns the settings with the streams that have joined
   */
  def open(
      current: () => ReadSettings,
      scheduler: Scheduler,
      metrics: ConsumerMetrics,
      environment: Environment,
      events: EventSink
  ): PublisherFactories = {
    val settings = current()
    if (settings.fanOut.isEmpty) polling(current, scheduler, metrics, environment, events)
    else
      new PublisherFactories(
        current,
        environment,
        new FanOutPublisherFactory(
          _,
          shard => current().fanOut.getOrElse(Map.empty)(shard.stream),
          FanOutSettings.Standard,
          settings.retries,
          settings.rules,
          scheduler,
          metrics,
          () => environment.random(),
          events
        )
      )
  }

  /** Creates publishers that poll, whatever the settings select. */
  def polling(
      current: () => ReadSettings,
      scheduler: Scheduler,
      metrics: ConsumerMetrics,
      environment: Environment,
      events: EventSink
  ): PublisherFactories = {
    val settings = current()
    new PublisherFactories(
      current,
      environment,
      new PollingPublisherFactory(
        _,
        settings.polling,
        settings.retries,
        settings.rules,
        scheduler,
        metrics,
        () => environment.random(),
        shard => environment.readers(current().client(shard.stream)),
        events
      )
    )
  }
}
