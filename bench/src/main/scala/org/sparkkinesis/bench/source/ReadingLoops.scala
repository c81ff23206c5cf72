package org.sparkkinesis.bench.source

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model.{ChildShard => _, StartingPosition => SdkStartingPosition, _}

import org.sparkkinesis.bench.{Measured, MeasuredLoop, Tally}
import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.{FanOutPublisherFactory, FanOutSettings}
import org.sparkkinesis.consume.poll.{PollingPublisherFactory, PollingSettings}
import org.sparkkinesis.consume.{
  PrefetchBuffer, ProgressListener, RecordBatch, RecordPublisher, RecordPublisherFactory, RecordSubscriber,
  ShardConsumers
}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{ChildShard, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, ServiceException}

/**
 * A fan-out reader as a user of the SDK would write it, which only counts, with the consumer that `nextConsumer`
 * returns and unlimited demand.
 */
final class SdkFanOutLoop(val name: String, client: KinesisAsyncClient, nextConsumer: () => String, shards: Int)
    extends MeasuredLoop {
  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    val consumer = nextConsumer()
    val calls = (0 until shards).map(shard => subscribe(consumer, ShardId.ofIndex(shard.toLong).value, tally))
    try tally.await()
    finally calls.foreach(_.cancel(true))
  }

  private def subscribe(consumerArn: String, shard: String, tally: Tally): CompletableFuture[Void] = {
    val request = SubscribeToShardRequest.builder().consumerARN(consumerArn).shardId(shard)
    val handler = new SubscribeToShardResponseHandler {
      override def responseReceived(response: SubscribeToShardResponse): Unit = ()
      override def exceptionOccurred(error: Throwable): Unit = if (!tally.isDone) tally.fail(error)
      override def complete(): Unit = ()
      override def onEventStream(publisher: SdkPublisher[SubscribeToShardEventStream]): Unit =
        publisher.subscribe(new Subscriber[SubscribeToShardEventStream] {
          override def onSubscribe(subscription: Subscription): Unit = subscription.request(Long.MaxValue)
          override def onNext(event: SubscribeToShardEventStream): Unit = event match {
            case records: SubscribeToShardEvent => tally.add(records.records.size)
            case _ => ()
          }
          override def onError(error: Throwable): Unit = if (!tally.isDone) tally.fail(error)
          override def onComplete(): Unit = ()
        })
    }
    val start = SdkStartingPosition.builder().`type`(ShardIteratorType.TRIM_HORIZON)
    client.subscribeToShard(request.startingPosition(start.build()).build(), handler)
  }
}

/** The connector's publishers alone; records are counted and dropped. */
final class PublisherLoop(val name: String, publishers: RecordPublisherFactory, stream: String, shards: Int)
    extends MeasuredLoop {
  final private class Counting(tally: Tally) extends RecordSubscriber {
    @volatile private var publisher: RecordPublisher = null
    def begin(shard: StreamShard): RecordPublisher = {
      publisher = publishers.subscribe(shard, StartingPosition.TrimHorizon, this)
      publisher.request(Long.MaxValue)
      publisher
    }
    override def onBatch(batch: RecordBatch): Unit = {
      tally.add(batch.records.length)
      publisher.request(Long.MaxValue)
    }
    override def onShardEnd(children: Seq[ChildShard]): Unit = ()
    override def onError(error: ServiceException): Unit = tally.fail(error)
  }

  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    val opened = (0 until shards).map(shard =>
      new Counting(tally).begin(StreamShard(stream, ShardId.ofIndex(shard.toLong)))
    )
    try tally.await()
    finally opened.foreach(_.cancel())
  }
}

/** The connector's consumers: chunks are built, stored in the prefetch buffer, reported, and released at once. */
final class ConsumersLoop(val name: String, publishers: RecordPublisherFactory, stream: String, shards: Int)
    extends MeasuredLoop {
  override def run(expected: Long): Measured = {
    val tally = new Tally(expected)
    var consumers: ShardConsumers = null
    val listener = new ProgressListener {
      override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
        tally.add(chunks.iterator.map(_.rows).sum)
        consumers.release(shard, chunks.last.last)
      }
      override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit =
        ()
      override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
      override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = tally.fail(error)
    }
    consumers =
      new ShardConsumers(
        publishers,
        new PrefetchBuffer(256L << 20),
        DecodeSettings.of(Options.defaults),
        listener,
        new ConsumerMetrics
      )
    (0 until shards).foreach(shard =>
      consumers.start(StreamShard(stream, ShardId.ofIndex(shard.toLong)), StartingPosition.TrimHorizon, 1)
    )
    try tally.await()
    finally consumers.stopAll()
  }
}

object ReadingLoops {

  /** Polling without a pace, to measure the code path instead of the quota. */
  private val unpaced =
    PollingSettings.of(Options.defaults).copy(
      minFetchPeriod = 1.milli,
      maxFetchesPerSecond = 1e6,
      readBytesPerSecond = 1L << 50
    )

  def polling(
      service: KinesisService,
      scheduler: SystemScheduler,
      settings: PollingSettings = unpaced
  ): RecordPublisherFactory =
    new PollingPublisherFactory(
      _ => service,
      settings,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      scheduler,
      new ConsumerMetrics
    )

  def fanOut(service: KinesisService, consumerArn: String, scheduler: SystemScheduler): RecordPublisherFactory =
    new FanOutPublisherFactory(
      _ => service,
      _ => consumerArn,
      FanOutSettings.Standard,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      scheduler,
      new ConsumerMetrics
    )
}
