package org.sparkkinesis.bench.emulator

import java.net.URI
import java.nio.ByteBuffer
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}
import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.bench.emulator.Load._

/**
 * Loads the emulator through the AWS SDK, which signs, encodes and decodes on the same processors, as a user's client
 * does.
 */
final class SdkLoad(endpoint: String) extends Load {
  private val client = KinesisAsyncClient
    .builder()
    .region(Region.US_EAST_1)
    .endpointOverride(URI.create(endpoint))
    .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("bench", "bench")))
    .httpClientBuilder(NettyNioAsyncHttpClient.builder().protocol(Protocol.HTTP2).maxConcurrency(100))
    .build()
  private val consumers = new AtomicInteger

  private val putRequest = {
    val payload = SdkBytes.fromByteArray(Array.tabulate[Byte](RecordBytes)(i => (i * 31).toByte))
    val entries = (0 until RecordsPerPut).map(i =>
      PutRecordsRequestEntry.builder().partitionKey(s"key-$i").data(payload).build()
    )
    PutRecordsRequest.builder().streamName(Stream).records(entries.asJava).build()
  }

  override protected def putRecords(): CompletableFuture[Int] =
    client.putRecords(putRequest).thenApply(_.failedRecordCount.intValue)

  override def get(time: FiniteDuration): Long = {
    val bytes = new AtomicLong
    val deadline = time.fromNow
    def fromStart(shard: String): CompletableFuture[Unit] = client
      .getShardIterator { (r: GetShardIteratorRequest.Builder) =>
        r.streamName(Stream).shardId(shard).shardIteratorType(ShardIteratorType.TRIM_HORIZON)
        ()
      }
      .thenCompose(i => follow(shard, i.shardIterator))
    def follow(shard: String, iterator: String): CompletableFuture[Unit] =
      client.getRecords((r: GetRecordsRequest.Builder) => r.shardIterator(iterator).limit(RecordsPerGet)).thenCompose {
        page =>
          page.records.forEach { record => bytes.addAndGet(record.data.asByteArrayUnsafe.length.toLong); () }
          if (deadline.isOverdue()) CompletableFuture.completedFuture(())
          else if (page.records.isEmpty) fromStart(shard)
          else follow(shard, page.nextShardIterator)
      }
    CompletableFuture.allOf((0 until Shards).map(i => fromStart(shardId(i))): _*).join()
    bytes.get
  }

  override def push(time: FiniteDuration): Long = {
    val bytes = new AtomicLong
    val deadline = time.fromNow
    while (deadline.hasTimeLeft()) {
      val arn = newConsumer()
      val rounds = (0 until Shards).map { shard =>
        subscribe(arn, shardId(shard), ShardIteratorType.TRIM_HORIZON) { event =>
          event.records.forEach { record => bytes.addAndGet(record.data.asByteArrayUnsafe.length.toLong); () }
          deadline.hasTimeLeft() && event.millisBehindLatest > 0
        }
      }
      CompletableFuture.allOf(rounds: _*).join()
    }
    bytes.get
  }

  override def latencies(time: FiniteDuration): Array[Double] = {
    val found = new Figures
    val opened = new CountDownLatch(Shards)
    val arn = newConsumer()
    val deadline = time.fromNow
    val counted = System.nanoTime() + warmUp(time).toNanos
    val subscriptions = (0 until Shards).map { shard =>
      subscribe(arn, shardId(shard), ShardIteratorType.LATEST, () => opened.countDown()) { event =>
        val now = System.nanoTime()
        event.records.forEach { record =>
          val data = record.data.asByteBuffer
          if (data.remaining >= 8) {
            val sent = data.getLong()
            if (sent > counted) found.add((now - sent) / 1e6)
          }
        }
        deadline.hasTimeLeft()
      }
    }
    await(opened, "opening the subscriptions")
    var n = 0
    while (deadline.hasTimeLeft()) {
      n += 1
      val data = ByteBuffer.allocate(RecordBytes).putLong(System.nanoTime()).rewind()
      put((r: PutRecordRequest.Builder) => r.partitionKey(s"key-$n").data(SdkBytes.fromByteBuffer(data)))
      TimeUnit.MILLISECONDS.sleep(PutEveryMillis)
    }
    // Every subscription ends at its next event, so put one more record per shard.
    (0 until Shards).foreach { shard =>
      val key = (BigInt(2).pow(128) / Shards * shard + 1).toString
      put((r: PutRecordRequest.Builder) => r.partitionKey("end").explicitHashKey(key).data(SdkBytes.fromUtf8String("")))
    }
    CompletableFuture.allOf(subscriptions: _*).join()
    found.sorted
  }

  private def put(what: PutRecordRequest.Builder => PutRecordRequest.Builder): Unit = {
    client.putRecord(what(PutRecordRequest.builder().streamName(Stream)).build())
    ()
  }

  private def newConsumer(): String = {
    val summary =
      client.describeStreamSummary((r: DescribeStreamSummaryRequest.Builder) => r.streamName(Stream)).join()
    val arn = summary.streamDescriptionSummary.streamARN
    val name = s"sdk-${consumers.incrementAndGet()}"
    val made = client.registerStreamConsumer((r: RegisterStreamConsumerRequest.Builder) =>
      r.streamARN(arn).consumerName(name)
    )
    made.join().consumer.consumerARN
  }

  /**
   * Passes every event to `onEvent` until that returns false. The future completes when the subscription has ended.
   */
  private def subscribe(arn: String, shard: String, from: ShardIteratorType, opened: () => Unit = () => ())(
      onEvent: SubscribeToShardEvent => Boolean
  ): CompletableFuture[Unit] = {
    val ended = new CompletableFuture[Unit]
    val request = SubscribeToShardRequest
      .builder()
      .consumerARN(arn)
      .shardId(shard)
      .startingPosition(StartingPosition.builder().`type`(from).build())
      .build()
    val handler = SubscribeToShardResponseHandler
      .builder()
      .onResponse((_: SubscribeToShardResponse) => opened())
      .subscriber(() => new EventSubscriber(onEvent, ended))
      .build()
    client.subscribeToShard(request, handler).whenComplete { (_, error) =>
      if (error != null) ended.completeExceptionally(error) else ended.complete(())
      ()
    }
    ended
  }

  override def close(): Unit = client.close()
}

final private class EventSubscriber(onEvent: SubscribeToShardEvent => Boolean, ended: CompletableFuture[Unit])
    extends Subscriber[SubscribeToShardEventStream] {
  private var demand: Subscription = _

  override def onSubscribe(subscription: Subscription): Unit = {
    demand = subscription
    subscription.request(1)
  }

  override def onNext(event: SubscribeToShardEventStream): Unit = event match {
    case e: SubscribeToShardEvent if !onEvent(e) =>
      ended.complete(())
      demand.cancel()
    case _ => demand.request(1)
  }

  override def onError(error: Throwable): Unit = {
    ended.completeExceptionally(error)
    ()
  }

  override def onComplete(): Unit = {
    ended.complete(())
    ()
  }
}
