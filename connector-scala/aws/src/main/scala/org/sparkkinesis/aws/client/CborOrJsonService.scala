package org.sparkkinesis.aws.client

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.aws.error.ErrorClassification
import org.sparkkinesis.concurrent.{AbortableFuture, Futures}
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.service._

/**
 * Calls a service in CBOR, or in JSON if its endpoint supports nothing else, as some emulators and gateways do. Until
 * the service has answered in one of the two, a call whose answer in CBOR is foreign or has no error code is repeated
 * in JSON. From then on, all calls use the encoding of that answer. Thread-safe.
 *
 * @param cbor
 *   this instance owns it
 * @param createJson
 *   creates the service for JSON when it is needed; this instance owns it
 */
final private[aws] class CborOrJsonService(cbor: KinesisService, createJson: () => KinesisService)
    extends KinesisService {
  import CborOrJsonService._

  @volatile private var chosen: KinesisService = null
  private var json = Option.empty[KinesisService]
  private var isClosed = false

  private def call[A](make: KinesisService => CompletableFuture[A]): CompletableFuture[A] = {
    val service = chosen
    if (service == null) new UndecidedCall(make).result else make(service)
  }

  /** A call before the choice. As with the services, `cancel` of its future ends the call that runs. */
  final private class UndecidedCall[A](make: KinesisService => CompletableFuture[A]) {
    @volatile private var running: CompletableFuture[A] = null
    @volatile private var isCancelled = false

    val result: CompletableFuture[A] = new AbortableFuture[A](() => {
      isCancelled = true
      running.cancel(true)
      ()
    })

    attempt(cbor) { error =>
      val inJson = if (isCancelled || !mayKnowOnlyJson(error)) None else jsonService()
      inJson match {
        case None => fail(error)
        case Some(service) =>
          attempt(service)(errorInJson => fail(if (isOfService(errorInJson)) errorInJson else error))
      }
    }

    private def attempt(service: KinesisService)(failed: ServiceException => Unit): Unit = {
      running = make(service)
      running.whenComplete { (answer, failure) =>
        Futures.unwrap(failure) match {
          case null =>
            chosen = service
            result.complete(answer)
          case error: ServiceException =>
            if (isOfService(error)) chosen = service
            failed(error)
          case other => result.completeExceptionally(other)
        }
        ()
      }
      ()
    }

    private def fail(error: ServiceException): Unit = {
      result.completeExceptionally(error)
      ()
    }
  }

  private def isOfService(error: ServiceException): Boolean =
    error.isAnswer && !ErrorClassification.hasNoCode(error) && !NotUnderstood(error.errorCode)

  private def mayKnowOnlyJson(error: ServiceException): Boolean =
    (error.isAnswer || error.kind == ServiceErrorKind.ForeignAnswer) && !isOfService(error)

  private def jsonService(): Option[KinesisService] = synchronized {
    if (json.isEmpty && !isClosed) json = Some(createJson())
    json
  }

  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] = call(_.describeStream(stream))

  override def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage] =
    call(_.listShards(stream, filter, next))

  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] = call(_.listStreams(after))

  override def getShardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] = call(_.getShardIterator(stream, shard, position))

  override def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] =
    call(_.getRecords(stream, iterator, limit))

  override def putRecords(
      stream: StreamRef,
      entries: IndexedSeq[PutEntry]
  ): CompletableFuture[IndexedSeq[PutResult]] = call(_.putRecords(stream, entries))

  override def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    call(_.registerStreamConsumer(streamArn, consumerName))

  override def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    call(_.describeStreamConsumer(streamArn, consumerName))

  override def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer] =
    call(_.describeStreamConsumer(consumerArn))

  override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
    call(_.listStreamConsumers(streamArn, next))

  override def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit] =
    call(_.deregisterStreamConsumer(consumerArn))

  override def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit] =
    call(_.change(stream, change))

  // A subscription is the same with both.
  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = cbor.subscribeToShard(consumerArn, shard, position, subscriber)

  override def close(): Unit = {
    val other = synchronized {
      isClosed = true
      json
    }
    cbor.close()
    other.foreach(_.close())
  }
}

private object CborOrJsonService {

  /** Error codes of a server that cannot read the request. */
  val NotUnderstood = Set("SerializationException", "UnknownOperationException")
}
