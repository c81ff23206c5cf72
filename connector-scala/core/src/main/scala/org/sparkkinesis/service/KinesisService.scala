package org.sparkkinesis.service

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.model.{Utf8, _}

/**
 * The service port: the calls that the connector makes to Kinesis Data Streams. An instance is bound to one region and
 * one set of credentials.
 *
 * Every call returns immediately. Futures fail only with [[ServiceException]]. Calls are not retried; retries are up to
 * the caller. Implementations are thread-safe and complete futures on threads that must not block.
 */
trait KinesisService extends AutoCloseable {
  def describeStream(stream: StreamRef): CompletableFuture[StreamDescription]

  /**
   * Returns one page. With a token in `next`, the request contains neither stream nor filter, as the service requires.
   */
  def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage]

  /** Returns one page of the stream names of the account and region, in order, starting after `after`. */
  def listStreams(after: Option[String]): CompletableFuture[StreamNamePage]

  def getShardIterator(stream: StreamRef, shard: ShardId, position: StartingPosition): CompletableFuture[String]

  /** @param limit at most [[KinesisQuotas.Request.GetRecordsLimit]] */
  def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage]

  def putRecords(stream: StreamRef, entries: IndexedSeq[PutEntry]): CompletableFuture[IndexedSeq[PutResult]]

  def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer]
  def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer]
  def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer]
  def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage]
  def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit]

  /** Requests a change of a stream. The service answers before it has made the change. */
  def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit]

  /** Opens a subscription and reports its state to `subscriber`. After `cancel` the subscriber receives no callback. */
  def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription
}

/** Permission to use a service until the lease is closed. The holder must not close the service. */
trait ServiceLease[+S] extends AutoCloseable {
  def service: S
}

/** A requested subscription. Both methods may be called from any thread. */
trait ShardSubscription {

  /** Requests `n` more events. */
  def request(n: Long): Unit
  def cancel(): Unit
}

/**
 * Callbacks of one subscription, in order and never concurrently, on a thread that must not block.
 *
 * `onComplete` reports that the connection completed. It does not mean that the shard ended; only an event with
 * children, or without a continuation, ends the shard.
 */
trait ShardSubscriber {
  def onSubscribed(): Unit
  def onEvent(event: SubscribeToShardEvent): Unit
  def onError(error: ServiceException): Unit
  def onComplete(): Unit
}

/**
 * One event of a subscription, as the service pushes it.
 *
 * @param continuation
 *   position to resume at; empty only at the end of the shard
 * @param children
 *   not empty only at the end of the shard
 */
final case class SubscribeToShardEvent(
    records: IndexedSeq[KinesisRecord],
    continuation: Option[SequenceNumber],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)

/**
 * @param encryption
 *   the KMS key of a stream that is encrypted at rest
 * @param consumers
 *   number of registered consumers
 * @param answeredMillis
 *   when the service answered, on its own clock, where the answer says so
 */
final case class StreamDescription(
    name: String,
    arn: String,
    status: StreamStatus,
    creationMillis: Long,
    retentionHours: Int,
    openShards: Int,
    maxRecordBytes: Int,
    onDemand: Boolean,
    answeredMillis: Option[Long] = None,
    encryption: Option[String] = None,
    consumers: Int = 0
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

/**
 * @param answeredMillis
 *   when the service answered, on its own clock, where the answer says so
 */
final case class ShardPage(shards: Seq[Shard], next: Option[String], answeredMillis: Option[Long] = None)
final case class StreamNamePage(names: Seq[String], hasMore: Boolean)

/** @param nextIterator empty only if a closed shard was read to its end */
final case class RecordPage(
    records: IndexedSeq[KinesisRecord],
    nextIterator: Option[String],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)

/** A record to write. The payload must not be modified. */
trait PutEntry {
  def partitionKey: String
  def explicitHashKey: Option[String]
  def data: Array[Byte]

  /** Size as the service counts it: payload and UTF-8 bytes of the key. */
  def size: Int
}

object PutEntry {
  def apply(key: String, hashKey: Option[String], payload: Array[Byte]): PutEntry = new PutEntry {
    override val partitionKey: String = key
    override val explicitHashKey: Option[String] = hashKey
    override val data: Array[Byte] = payload
    override val size: Int = sizeOf(key, payload)
  }

  def sizeOf(partitionKey: String, data: Array[Byte]): Int = data.length + Utf8.length(partitionKey)
}

sealed trait PutResult
object PutResult {
  final case class Accepted(shard: ShardId, sequenceNumber: SequenceNumber) extends PutResult
  final case class Rejected(code: String, message: String) extends PutResult
}

final case class StreamConsumer(name: String, arn: String, status: ConsumerStatus, creationMillis: Long)
final case class StreamConsumerPage(consumers: Seq[StreamConsumer], next: Option[String])
