package org.sparkkinesis.spark.executor

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.aws.client.{ClientLease, ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.consume.fanout.{FanOutPublisherFactory, FanOutSettings}
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, ShardReaders}
import org.sparkkinesis.consume.{RecordPublisher, RecordPublisherFactory, RecordSubscriber}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{StartingPosition, StreamShard}
import org.sparkkinesis.service.KinesisService
import org.sparkkinesis.spark.settings.ReadSettings

/** Publishers for one source in one JVM, and the shared clients that they use; closing it gives those back. */
final class PublisherFactories private (
    settings: ReadSettings,
    kind: (StreamShard => KinesisService) => RecordPublisherFactory
) extends RecordPublisherFactory
    with AutoCloseable {
  private val leases = new ConcurrentHashMap[ClientSettings, ClientLease]
  private val factory = kind(service)

  override def subscribe(
      shard: StreamShard,
      position: StartingPosition,
      subscriber: RecordSubscriber
  ): RecordPublisher =
    factory.subscribe(shard, position, subscriber)

  override def close(): Unit = leases.values.asScala.foreach(_.close())

  private def service(shard: StreamShard): KinesisService =
    leases.computeIfAbsent(settings.client(shard.stream), KinesisClients.shared.acquire(_)).service
}

object PublisherFactories {

  /** Of the kind that the settings say. */
  def open(settings: ReadSettings, scheduler: Scheduler, metrics: ConsumerMetrics): PublisherFactories =
    settings.fanOut.fold(polling(settings, scheduler, metrics)) { consumers =>
      new PublisherFactories(
        settings,
        new FanOutPublisherFactory(
          _,
          shard => consumers(shard.stream),
          FanOutSettings(),
          settings.retries,
          settings.rules,
          scheduler,
          metrics
        )
      )
    }

  def polling(settings: ReadSettings, scheduler: Scheduler, metrics: ConsumerMetrics): PublisherFactories =
    new PublisherFactories(
      settings,
      new PollingPublisherFactory(
        _,
        settings.polling,
        settings.retries,
        settings.rules,
        scheduler,
        metrics,
        readers = shard => ShardReaders.at(settings.client(shard.stream).endpoint.getOrElse(""))
      )
    )
}
