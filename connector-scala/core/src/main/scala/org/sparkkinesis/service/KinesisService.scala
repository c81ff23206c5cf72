package org.sparkkinesis.service

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.model.{Utf8, _}

/**
 * The service port: what the connector asks of Kinesis Data Streams. One instance talks to one region as one caller.
 *
 * Every call returns at once. A future fails with [[ServiceException]] and nothing else. No call is retried here:
 * retries are the caller's policy. Implementations are thread-safe and complete futures on threads that must not block.
 */
trait KinesisService extends AutoCloseable {
  def describeStream(stream: StreamRef): CompletableFuture[StreamDescription]

  /** One page; `next` continues it (and then goes alone, without stream or filter, as the service wants it). */
  def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage]

  /** Names of the caller's streams in this region, one page, in order, after `after`. */
  def listStreams(after: Option[String]): CompletableFuture[StreamNamePage]

  def getShardIterator(stream: StreamRef, shard: ShardId, position: StartingPosition): CompletableFuture[String]

  /** @param limit at most [[KinesisQuotas.Request.GetRecordsLimit]] */
  def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage]

  def putRecords(stream: StreamRef, entries: Seq[PutEntry]): CompletableFuture[Seq[PutResult]]

  def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer]
  def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer]
  def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer]
  def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage]
  def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit]

  /** Opens a subscription; its life is told to `subscriber`. Cancelling the handle tells the subscriber nothing more. */
  def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription
}

/** The right to use a service until the lease is closed. Do not close the service itself. */
trait ServiceLease extends AutoCloseable {
  def service: KinesisService
}

/** A subscription that was asked for; both calls may be made from any thread. */
trait ShardSubscription {

  /** Allows `n` more events. */
  def request(n: Long): Unit
  def cancel(): Unit
}

/**
 * Callbacks of one subscription, in order, never two at once, on a thread that must not be blocked.
 *
 * `onComplete` says that the connection ended in an orderly way. It never says that the shard ended: only an event with
 * children, or without a continuation, does.
 */
trait ShardSubscriber {
  def onSubscribed(): Unit
  def onEvent(event: ShardEvent): Unit
  def onError(error: ServiceException): Unit
  def onComplete(): Unit
}

/**
 * @param continuation
 *   where to resume; empty only at the end of the shard
 * @param children
 *   not empty only at the end of the shard
 */
final case class ShardEvent(
    records: IndexedSeq[KinesisRecord],
    continuation: Option[SequenceNumber],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)

final case class StreamDescription(
    name: String,
    arn: String,
    status: String,
    creationMillis: Long,
    retentionHours: Int,
    openShards: Int,
    maxRecordBytes: Int,
    onDemand: Boolean
)

sealed trait ShardFilter
object ShardFilter {
  case object FromTrimHorizon extends ShardFilter
  case object AtTrimHorizon extends ShardFilter
  case object AtLatest extends ShardFilter
  final case class AtTimestamp(epochMillis: Long) extends ShardFilter
  final case class FromTimestamp(epochMillis: Long) extends ShardFilter
  final case class AfterShardId(shard: ShardId) extends ShardFilter
}

final case class ShardPage(shards: Seq[Shard], next: Option[String])
final case class StreamNamePage(names: Seq[String], hasMore: Boolean)

/**
 * @param nextIterator
 *   empty only when a closed shard is drained
 */
final case class RecordPage(
    records: IndexedSeq[KinesisRecord],
    nextIterator: Option[String],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)

final case class PutEntry(partitionKey: String, explicitHashKey: Option[String], data: Array[Byte]) {

  /** As the service counts it: payload and the key's UTF-8 bytes. */
  lazy val size: Int = data.length + Utf8.length(partitionKey)
}

sealed trait PutResult
object PutResult {
  final case class Accepted(shard: ShardId, sequenceNumber: SequenceNumber) extends PutResult
  final case class Rejected(code: String, message: String) extends PutResult
}

final case class StreamConsumer(name: String, arn: String, status: String, creationMillis: Long)
final case class StreamConsumerPage(consumers: Seq[StreamConsumer], next: Option[String])
