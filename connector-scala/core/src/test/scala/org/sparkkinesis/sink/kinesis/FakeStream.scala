package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletableFuture.completedFuture

import scala.collection.mutable

import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.{HashKey, HashKeyRange}
import org.sparkkinesis.service.{
  ChangeRequest, KinesisService, PutEntry, PutResult, RecordPage, ServiceException, ShardFilter, ShardPage,
  ShardSubscriber, ShardSubscription, StreamConsumer, StreamConsumerPage, StreamDescription, StreamNamePage
}

/**
 * The write operations of one stream, with shards that can be resharded and failures that the test requests. Responds
 * immediately.
 */
class FakeStream(shardCount: Int) extends KinesisService {
  val stored = mutable.ArrayBuffer.empty[(ShardId, PutEntry)]
  var listings = 0
  var puts = 0

  /** Puts records into its shards in turn, as with the record distribution strategy AUTO. */
  var distributesItself = false

  /** Decides about each entry before it is stored. */
  var refuse: PutEntry => Option[PutResult.Rejected] = _ => None

  /** Failures of whole calls, in order. */
  val failures = mutable.Queue.empty[ServiceException]
  val listingFailures = mutable.Queue.empty[ServiceException]

  /** Number of listings that omit the first shard. */
  var listingsWithHole = 0

  /** Completes the responses of PutRecords. */
  var putAnswers: CompletableFuture[Unit] = completedFuture(())

  /** The next call of PutRecords, which stores nothing. */
  var nextPut = Option.empty[CompletableFuture[IndexedSeq[PutResult]]]

  /** Makes all calls of PutRecords, which store nothing. */
  var puttingWith = Option.empty[IndexedSeq[PutEntry] => CompletableFuture[IndexedSeq[PutResult]]]

  /** Completes the responses of ListShards. */
  var listingAnswers: CompletableFuture[Unit] = completedFuture(())

  /** Changes the open shards that a listing returns. */
  var listed: Vector[Shard] => Vector[Shard] = identity
  private var nextIndex = 0
  private var created = 0
  private var open = Vector.empty[Shard]
  private var ranges = Map.empty[ShardId, HashKeyRange]
  create(shardCount)

  /** Recreates the stream. Its shards have the same names as before. */
  def create(shards: Int): Unit = {
    created += 1
    nextIndex = shards
    open = HashKeyRange.uniform(shards).zipWithIndex.map { case (range, i) => shard(i, range) }.toVector
  }

  private def shard(index: Int, range: HashKeyRange): Shard = {
    ranges += ShardId.ofIndex(index.toLong) -> range
    Shard(ShardId.ofIndex(index.toLong), None, None, range, SequenceNumber(created.toString), None)
  }

  /** Splits the shard in its middle. */
  def split(id: ShardId): Unit = {
    val parent = open.find(_.id == id).get.hashKeyRange
    val middle = (parent.start + parent.end) / 2
    open = open.filterNot(_.id == id) :+ shard(nextIndex, HashKeyRange(parent.start, middle)) :+
      shard(nextIndex + 1, HashKeyRange(middle + 1, parent.end))
    nextIndex += 2
  }

  def openShards: Vector[Shard] = open

  /** The range of any current or former shard. */
  def rangeOf(id: ShardId): Option[HashKeyRange] = ranges.get(id)

  def shardOf(entry: PutEntry): Shard = {
    val hash = entry.explicitHashKey.fold(HashKey.ofPartitionKey(entry.partitionKey))(BigInt(_))
    open.find(_.hashKeyRange.contains(hash)).get
  }

  /** Returns two shards per page, so that every listing has several pages. */
  override def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage] =
    if (listingFailures.nonEmpty) CompletableFuture.failedFuture(listingFailures.dequeue())
    else {
      if (next.isEmpty) listings += 1
      val from = next.fold(0)(_.toInt)
      val shards = listed(if (listings <= listingsWithHole) open.drop(1) else open)
      val page = ShardPage(shards.slice(from, from + 2), Option.when(from + 2 < shards.size)((from + 2).toString))
      listingAnswers.thenApply(_ => page)
    }

  override def putRecords(
      stream: StreamRef,
      entries: IndexedSeq[PutEntry]
  ): CompletableFuture[IndexedSeq[PutResult]] = {
    puts += 1
    if (puttingWith.nonEmpty) puttingWith.get(entries)
    else if (nextPut.nonEmpty) {
      val call = nextPut.get
      nextPut = None
      call
    } else if (failures.nonEmpty) CompletableFuture.failedFuture(failures.dequeue())
    else {
      val results = entries.map { entry =>
        refuse(entry).getOrElse {
          val shard = if (distributesItself) open(stored.size % open.size) else shardOf(entry)
          stored += (shard.id -> entry)
          PutResult.Accepted(shard.id, SequenceNumber(stored.size.toString))
        }
      }
      putAnswers.thenApply(_ => results)
    }
  }

  override def close(): Unit = ()
  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] = unsupported
  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] = unsupported
  override def getShardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] = unsupported
  override def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] = unsupported
  override def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    unsupported
  override def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    unsupported
  override def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer] = unsupported
  override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
    unsupported
  override def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit] = unsupported
  override def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit] = unsupported
  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = unsupported

  private def unsupported: Nothing = throw new UnsupportedOperationException("a sink does not call this")
}
