package org.sparkkinesis.conformance.client

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.jdk.CollectionConverters._

import software.amazon.awssdk.core.SdkBytes
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.model._

import org.sparkkinesis.concurrent.Futures

/** Kinesis calls for tests: blocking, with the SDK's exceptions. */
final class Calls(val client: KinesisAsyncClient) {
  import Calls._

  def createStream(name: String, shards: Int): Unit = {
    await(client.createStream((r: CreateStreamRequest.Builder) => r.streamName(name).shardCount(shards)))
    awaitActive(name)
  }

  def summary(name: String): StreamDescriptionSummary =
    await(client.describeStreamSummary((r: DescribeStreamSummaryRequest.Builder) =>
      r.streamName(name)
    )).streamDescriptionSummary

  def awaitActive(name: String): Unit =
    awaitUntil(summary(name).streamStatus == StreamStatus.ACTIVE, s"$name to be ACTIVE")

  def put(stream: String, key: String, text: String): PutRecordResponse =
    await(client.putRecord((r: PutRecordRequest.Builder) =>
      r.streamName(stream).partitionKey(key).data(SdkBytes.fromUtf8String(text))
    ))

  def putToShard(stream: String, hashKey: String, text: String): PutRecordResponse =
    await(client.putRecord { (r: PutRecordRequest.Builder) =>
      r.streamName(stream).partitionKey("key").explicitHashKey(hashKey).data(SdkBytes.fromUtf8String(text))
      ()
    })

  def shards(stream: String): Vector[Shard] =
    await(client.listShards((r: ListShardsRequest.Builder) => r.streamName(stream))).shards.asScala.toVector

  def openShards(stream: String): Vector[Shard] =
    shards(stream).filter(_.sequenceNumberRange.endingSequenceNumber == null)

  def iterator(
      stream: String,
      shard: String,
      kind: ShardIteratorType,
      number: String = null,
      time: java.time.Instant = null
  ): String =
    await(client.getShardIterator { (r: GetShardIteratorRequest.Builder) =>
      r.streamName(stream).shardId(shard).shardIteratorType(kind).startingSequenceNumber(number).timestamp(time)
      ()
    }).shardIterator

  def records(iterator: String, limit: Integer = null): GetRecordsResponse =
    await(client.getRecords((r: GetRecordsRequest.Builder) => r.shardIterator(iterator).limit(limit)))

  /** Returns the data of the records after an iterator as text, up to the shard's tip or end. */
  def texts(iterator: String): Vector[String] = {
    val page = records(iterator)
    val found = page.records.asScala.map(_.data.asUtf8String).toVector
    if (page.nextShardIterator == null || page.millisBehindLatest == 0) found
    else found ++ texts(page.nextShardIterator)
  }

  def registerConsumer(stream: String, name: String): String = {
    val streamArn = summary(stream).streamARN
    val arn = await(client.registerStreamConsumer((r: RegisterStreamConsumerRequest.Builder) =>
      r.streamARN(streamArn).consumerName(name)
    )).consumer.consumerARN
    awaitUntil(consumer(arn).consumerStatus == ConsumerStatus.ACTIVE, s"$name to be ACTIVE")
    arn
  }

  def consumer(arn: String): ConsumerDescription =
    await(client.describeStreamConsumer((r: DescribeStreamConsumerRequest.Builder) =>
      r.consumerARN(arn)
    )).consumerDescription

  def split(stream: String, shard: Shard): Unit = {
    val middle = (BigInt(shard.hashKeyRange.startingHashKey) + BigInt(shard.hashKeyRange.endingHashKey)) / 2 + 1
    await(client.splitShard((r: SplitShardRequest.Builder) =>
      r.streamName(stream).shardToSplit(shard.shardId).newStartingHashKey(middle.toString)
    ))
    awaitActive(stream)
  }

  def merge(stream: String, shard: Shard, adjacent: Shard): Unit = {
    await(client.mergeShards { (r: MergeShardsRequest.Builder) =>
      r.streamName(stream).shardToMerge(shard.shardId).adjacentShardToMerge(adjacent.shardId)
      ()
    })
    awaitActive(stream)
  }
}

object Calls {
  private val TimeoutSeconds = 30L
  private val PollMillis = 100L

  def await[A](future: CompletableFuture[A]): A =
    try future.get(TimeoutSeconds, TimeUnit.SECONDS)
    catch { case e: ExecutionException => throw Futures.unwrap(e) }

  /** Polls a condition on another process, which has no notification. */
  def awaitUntil(condition: => Boolean, what: String): Unit = {
    val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TimeoutSeconds)
    while (!condition) {
      assert(System.nanoTime() < deadline, s"waited $TimeoutSeconds s in vain for $what")
      Thread.sleep(PollMillis)
    }
  }
}
