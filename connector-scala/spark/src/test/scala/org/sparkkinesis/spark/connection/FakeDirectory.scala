package org.sparkkinesis.spark.connection

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.consume.FakeKinesis
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service._

/**
 * A service whose streams and listings the test supplies. It returns the listings, and the pages of names, in order and
 * repeats the last one.
 */
final class FakeDirectory(scheduler: Scheduler) extends FakeKinesis(scheduler) {
  val streams: mutable.Map[String, StreamDescription] = mutable.LinkedHashMap.empty
  val names: mutable.Queue[StreamNamePage] = mutable.Queue.empty
  val listings: mutable.Queue[ShardPage] = mutable.Queue.empty

  /** The filter and the token of each ListShards call. */
  val listed: mutable.ArrayBuffer[(ShardFilter, Option[String])] = mutable.ArrayBuffer.empty

  /** The names after which ListStreams was asked to continue. */
  val asked: mutable.ArrayBuffer[Option[String]] = mutable.ArrayBuffer.empty
  var isSilent = false

  /** The error with which the client fails when an iterator is requested. */
  var iteratorError: Option[Error] = None

  /** Shards that exist, also if the listings lack them. */
  var unlisted: Set[ShardId] = Set.empty

  def add(
      name: String,
      status: StreamStatus = StreamStatus.Active,
      creationMillis: Long = 1000,
      retentionHours: Int = 24
  ): Unit =
    streams(name) =
      StreamDescription(name, FakeDirectory.arn(name), status, creationMillis, retentionHours, 1, 1048576, false)

  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] =
    if (isSilent) new CompletableFuture
    else answer(Operation.DescribeStreamSummary) {
      streams.getOrElse(
        stream.name,
        throw new ServiceException(
          ServiceErrorKind.ResourceNotFound,
          Operation.DescribeStreamSummary,
          "ResourceNotFoundException",
          "not there"
        )
      )
    }

  override def listShards(
      stream: StreamRef,
      filter: ShardFilter,
      next: Option[String]
  ): CompletableFuture[ShardPage] = {
    listed += filter -> next
    answer(Operation.ListShards)(if (listings.size > 1) listings.dequeue() else listings.head)
  }

  override def getShardIterator(
      stream: StreamRef,
      shard: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] = {
    iteratorError.foreach(throw _)
    if (isSilent) new CompletableFuture
    else answer(Operation.GetShardIterator) {
      if (unlisted(shard)) "iterator"
      else
        throw new ServiceException(
          ServiceErrorKind.ResourceNotFound,
          Operation.GetShardIterator,
          "ResourceNotFoundException",
          "not there"
        )
    }
  }

  /** ARNs of the registered consumers. */
  val consumers: mutable.Set[String] = mutable.Set.empty

  override def describeStreamConsumer(streamArn: String, consumerName: String): CompletableFuture[StreamConsumer] =
    answer(Operation.DescribeStreamConsumer)(
      consumers.find(_.startsWith(s"$streamArn/consumer/$consumerName:"))
        .map(StreamConsumer(consumerName, _, ConsumerStatus.Active, 0)).getOrElse(
          throw new ServiceException(
            ServiceErrorKind.ResourceNotFound,
            Operation.DescribeStreamConsumer,
            "ResourceNotFoundException",
            "not there"
          )
        )
    )

  /** Whether registrations take effect and are answered by [[answerRegistration]] only. */
  var holdsRegistrations = false
  private val held = mutable.Queue.empty[(CompletableFuture[StreamConsumer], StreamConsumer)]

  override def registerStreamConsumer(streamArn: String, name: String): CompletableFuture[StreamConsumer] = {
    def registered(): StreamConsumer = {
      val arn = s"$streamArn/consumer/$name:${consumers.size + 1}"
      consumers += arn
      StreamConsumer(name, arn, ConsumerStatus.Active, 0)
    }
    if (holdsRegistrations) {
      val answer = new CompletableFuture[StreamConsumer]
      held += answer -> registered()
      answer
    } else answer(Operation.RegisterStreamConsumer)(registered())
  }

  def answerRegistration(): Unit = {
    holdsRegistrations = false
    held.dequeueAll(_ => true).foreach { case (answer, consumer) => answer.complete(consumer) }
  }

  override def deregisterStreamConsumer(consumerArn: String): CompletableFuture[Unit] =
    if (isSilent) new CompletableFuture
    else answer(Operation.DeregisterStreamConsumer) {
      consumers -= consumerArn
      ()
    }

  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] = {
    asked += after
    answer(Operation.ListStreams)(if (names.size > 1) names.dequeue() else names.head)
  }
}

object FakeDirectory {
  def arn(name: String): String = s"arn:aws:kinesis:us-east-1:123456789012:stream/$name"

  /** Returns the open shards of a new stream with `count` shards, restricted to the indexes in `only`. */
  def shards(count: Int, only: Range = 0 to Int.MaxValue - 1): Seq[Shard] =
    HashKeyRange.uniform(count).zipWithIndex.collect {
      case (range, index) if only.contains(index) =>
        Shard(ShardId.ofIndex(index.toLong), None, None, range, SequenceNumber("1"), None)
    }
}
