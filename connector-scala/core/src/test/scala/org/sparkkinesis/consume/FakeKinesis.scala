package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model._
import org.sparkkinesis.service.{
  ChangeRequest, KinesisService, Operation, PutEntry, PutResult, RecordPage, ServiceErrorKind, ServiceException,
  ShardFilter, ShardPage, ShardSubscriber, ShardSubscription, StreamConsumer, StreamConsumerPage, StreamDescription,
  StreamNamePage
}

/**
 * The read operations of one stream in memory, on the scheduler's time. Every response takes `latency`. Not
 * thread-safe; used on the test's thread.
 */
class FakeKinesis(scheduler: Scheduler, latency: FiniteDuration = 10.millis) extends KinesisService {
  final class FakeShard {
    val records = mutable.ArrayBuffer.empty[KinesisRecord]
    var children: Option[Seq[ChildShard]] = None
    var trimmed = 0
  }

  val shards: mutable.Map[String, FakeShard] = mutable.LinkedHashMap.empty
  val calls: mutable.ArrayBuffer[(Operation, Long)] = mutable.ArrayBuffer.empty
  val limits: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
  val positions: mutable.ArrayBuffer[StartingPosition] = mutable.ArrayBuffer.empty

  /** Failures for the next calls of an operation, in order. */
  private val failures = mutable.Map.empty[Operation, mutable.Queue[ServiceException]]
  private val iterators = mutable.Map.empty[String, (String, Int)]
  var maxReplyBytes: Int = KinesisQuotas.Request.GetRecordsBytes
  private var numbers = 1000L

  def shard(name: String): FakeShard = shards.getOrElseUpdate(name, new FakeShard)

  def put(name: String, data: Array[Byte], key: String = "key"): SequenceNumber = {
    numbers += 7
    shard(name).records += new KinesisRecord(numbers.toString, key, scheduler.currentMillis, data, null)
    SequenceNumber(numbers.toString)
  }

  def put(name: String, texts: String*): Seq[SequenceNumber] = texts.map(text => put(name, text.getBytes("UTF-8")))

  def close(name: String, children: ChildShard*): Unit = shard(name).children = Some(children)

  def fail(operation: Operation, kinds: ServiceErrorKind*): Unit =
    failures.getOrElseUpdate(operation, mutable.Queue.empty) ++=
      kinds.map(new ServiceException(_, operation, s"${kinds.head}Exception", "injected"))

  def expireIterators(): Unit = iterators.clear()
  def callsOf(operation: Operation): Seq[Long] = calls.iterator.filter(_._1 == operation).map(_._2).toSeq

  override def getShardIterator(
      stream: StreamRef,
      shardId: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] =
    answer(Operation.GetShardIterator) {
      positions += position
      val records = shard(shardId.value).records
      val index = position match {
        case StartingPosition.TrimHorizon => 0
        case StartingPosition.Latest => records.length
        case StartingPosition.AtTimestamp(millis) => indexOf(records)(_.arrivalMillis >= millis)
        case StartingPosition.AtSequenceNumber(number) =>
          indexOf(records)(r => SequenceNumber(r.sequenceNumber) >= number)
        case StartingPosition.AfterSequenceNumber(number) =>
          indexOf(records)(r => SequenceNumber(r.sequenceNumber) > number)
      }
      iterator(shardId.value, math.max(index, shard(shardId.value).trimmed))
    }

  override def getRecords(stream: StreamRef, iteratorName: String, limit: Int): CompletableFuture[RecordPage] =
    answer(Operation.GetRecords) {
      limits += limit
      val (name, from) = iterators.getOrElse(
        iteratorName,
        throw new ServiceException(
          ServiceErrorKind.ExpiredIterator,
          Operation.GetRecords,
          "ExpiredIteratorException",
          "gone"
        )
      )
      val source = shard(name)
      var bytes = 0
      val page = source.records.iterator.slice(from, from + limit).takeWhile { record =>
        bytes += record.size
        bytes <= maxReplyBytes || bytes == record.size
      }.toVector
      val next = from + page.length
      val drained = next >= source.records.length
      val behind = if (drained) 0L else math.max(1, scheduler.currentMillis - source.records(next).arrivalMillis)
      if (drained && source.children.isDefined) RecordPage(page, None, 0, source.children.get)
      else RecordPage(page, Some(iterator(name, next)), behind, Nil)
    }

  private def indexOf(records: mutable.ArrayBuffer[KinesisRecord])(wanted: KinesisRecord => Boolean): Int = {
    val index = records.indexWhere(wanted)
    if (index < 0) records.length else index
  }

  private def iterator(shard: String, index: Int): String = {
    val name = s"$shard:$index:${iterators.size}"
    iterators(name) = (shard, index)
    name
  }

  protected def answer[A](operation: Operation)(body: => A): CompletableFuture[A] = {
    calls += operation -> scheduler.nanoTime
    val result = new CompletableFuture[A]
    val failure = failures.get(operation).filter(_.nonEmpty).map(_.dequeue())
    scheduler.schedule(latency) {
      try {
        failure.foreach(throw _)
        result.complete(body)
      } catch { case error: ServiceException => result.completeExceptionally(error) }
      ()
    }
    result
  }

  private def unused: Nothing = throw new UnsupportedOperationException("not part of this fake")
  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] =
    answer(Operation.DescribeStreamSummary) {
      StreamDescription(
        stream.name,
        stream.toString,
        StreamStatus.Active,
        0,
        24,
        shards.size,
        KinesisQuotas.Record.DefaultMaxBytes,
        onDemand = false
      )
    }
  override def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage] =
    unused
  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] = unused
  override def putRecords(stream: StreamRef, entries: IndexedSeq[PutEntry]): CompletableFuture[IndexedSeq[PutResult]] =
    unused
  override def registerStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    unused
  override def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    unused
  override def describeStreamConsumer(consumerArn: String): CompletableFuture[StreamConsumer] =
    answer(Operation.DescribeStreamConsumer)(StreamConsumer("consumer", consumerArn, ConsumerStatus.Active, 0))
  override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
    unused
  override def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit] = unused
  override def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit] = unused
  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = unused
  override def close(): Unit = ()
}
