package org.sparkkinesis.bench.latency

import java.nio.ByteBuffer
import java.time.Instant
import java.util.concurrent.locks.LockSupport
import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.jdk.CollectionConverters._

import org.reactivestreams.{Subscriber, Subscription}
import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.core.async.SdkPublisher
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.model.ShardId

/** Records of 200 bytes that contain the time at which they were sent, and the latencies of those that arrive. */
object TimedRecords {
  private val TicksPerSecond = 50
  private val RecordBytes = 200

  /** The time of this machine's clock, which all of its processes share. */
  def epochMicros: Long = {
    val now = Instant.now
    TimeUnit.SECONDS.toMicros(now.getEpochSecond) + TimeUnit.NANOSECONDS.toMicros(now.getNano.toLong)
  }

  /** Calls `send` at a steady pace with the payloads of one tick, until it returns false. */
  def atRate(rate: Int)(send: Seq[Array[Byte]] => Boolean): Unit = {
    val perTick = math.max(1, rate / TicksPerSecond)
    val period = TimeUnit.SECONDS.toNanos(1) / TicksPerSecond
    var next = System.nanoTime()
    var goesOn = true
    while (goesOn) {
      while (System.nanoTime() < next) LockSupport.parkNanos(next - System.nanoTime())
      val sent = epochMicros
      goesOn = send(Seq.fill(perTick)(ByteBuffer.allocate(RecordBytes).putLong(sent).array()))
      next += period
    }
  }

  /** Puts records at a steady rate for some seconds. */
  def produce(client: KinesisAsyncClient, stream: String, rate: Int, seconds: Int): Unit = {
    val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds.toLong)
    produce(client, stream, rate)(System.nanoTime() < end, _ => ())
  }

  /**
   * Puts records at a steady rate while `goesOn` is true.
   *
   * @param failed
   *   called with the error of a request
   */
  def produce(client: KinesisAsyncClient, stream: String, rate: Int)(
      goesOn: => Boolean,
      failed: Throwable => Unit
  ): Unit = {
    var key = 0
    atRate(rate) { payloads =>
      val entries = payloads.map { payload =>
        key += 1
        PutRecordsRequestEntry.builder().partitionKey(s"key-$key").data(SdkBytes.fromByteArrayUnsafe(payload)).build()
      }
      val request = PutRecordsRequest.builder().streamName(stream).records(entries.asJava).build()
      client.putRecords(request).whenComplete((_, error) => if (error != null) failed(error))
      goesOn
    }
  }

  /**
   * Subscribes to all shards of a stream from now on, with the SDK alone. The futures end the subscriptions when they
   * are cancelled.
   */
  def subscribe(
      client: KinesisAsyncClient,
      consumerArn: String,
      shards: Int,
      latencies: Latencies
  ): Seq[CompletableFuture[Void]] = (0 until shards).map { shard =>
    val start = StartingPosition.builder().`type`(ShardIteratorType.LATEST).build()
    val request = SubscribeToShardRequest.builder().consumerARN(consumerArn)
      .shardId(ShardId.ofIndex(shard.toLong).value).startingPosition(start).build()
    client.subscribeToShard(request, new TimedHandler(latencies))
  }

  final private class TimedHandler(latencies: Latencies) extends SubscribeToShardResponseHandler {
    override def responseReceived(response: SubscribeToShardResponse): Unit = ()
    override def exceptionOccurred(error: Throwable): Unit = ()
    override def complete(): Unit = ()
    override def onEventStream(publisher: SdkPublisher[SubscribeToShardEventStream]): Unit =
      publisher.subscribe(new Subscriber[SubscribeToShardEventStream] {
        override def onSubscribe(subscription: Subscription): Unit = subscription.request(Long.MaxValue)
        override def onNext(event: SubscribeToShardEventStream): Unit = event match {
          case records: SubscribeToShardEvent =>
            val now = epochMicros
            records.records.forEach(record => latencies.add(now, record.data.asByteArrayUnsafe()))
          case _ => ()
        }
        override def onError(error: Throwable): Unit = ()
        override def onComplete(): Unit = ()
      })
  }
}

/** The time of sending and the latency of each record that arrived. Thread-safe. */
final class Latencies {
  private var sent = new Array[Long](1 << 16)
  private var micros = new Array[Long](1 << 16)
  private var size = 0

  /** @param now the time of the arrival, see [[TimedRecords.epochMicros]] */
  def add(now: Long, payload: Array[Byte]): Unit = synchronized {
    if (size == sent.length) {
      sent = java.util.Arrays.copyOf(sent, 2 * size)
      micros = java.util.Arrays.copyOf(micros, 2 * size)
    }
    sent(size) = ByteBuffer.wrap(payload).getLong
    micros(size) = now - sent(size)
    size += 1
  }

  def count: Long = synchronized(size.toLong)

  /** Returns percentiles in milliseconds of the records that were sent after this time. */
  def since(epochMicros: Long): Double => Double = {
    val sorted = synchronized((0 until size).iterator.filter(sent(_) >= epochMicros).map(micros(_)).toArray).sorted
    require(sorted.nonEmpty, "no record arrived")
    percent => sorted(((sorted.length - 1) * percent / 100).toInt) / 1e3
  }
}
