package org.sparkkinesis.simulation.model

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.model._
import org.sparkkinesis.model.packed.PackedRecords
import org.sparkkinesis.service.{Operation, _}

/**
 * The modelled service as one process uses it. The scheduler delivers answers with a delay; a process that has ended
 * gets none.
 *
 * @param isAlive
 *   whether the process still runs
 */
final class ModelClient(service: ModelKinesis, process: String, isAlive: () => Boolean) extends KinesisService {
  import ModelClient._

  private val puts = new ModelPuts(service, process, isAlive)
  private val iterators = mutable.HashMap.empty[String, Cursor]
  private val tokens = mutable.HashMap.empty[String, Token]
  private var lastId = 0

  /** The time in the header of an answer, which has whole seconds. */
  private def answeredMillis: Option[Long] = Some(service.now / 1000 * 1000)

  override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] =
    answer(Operation.DescribeStreamSummary, stream.toString) {
      val found = service.existing(stream, Operation.DescribeStreamSummary)
      StreamDescription(
        found.name,
        found.arn,
        service.status(found.arn),
        found.creationMillis,
        found.retentionHours,
        found.open.size,
        KinesisQuotas.Record.DefaultMaxBytes,
        onDemand = false,
        answeredMillis = answeredMillis
      )
    }

  override def listShards(stream: StreamRef, filter: ShardFilter, next: Option[String]): CompletableFuture[ShardPage] =
    answer(Operation.ListShards, stream.toString, hasToken = next.nonEmpty) {
      val rest = next.fold(service.listing(service.existing(stream, Operation.ListShards), filter)) { token =>
        tokens.get(token).filter(_.untilMillis > service.now).map(_.rest).getOrElse(
          throw service.refused(ServiceErrorKind.ExpiredNextToken, Operation.ListShards, "The token has expired.")
        )
      }
      val (page, more) = rest.splitAt(service.settings.shardsPerPage)
      val token = Option.when(more.nonEmpty) {
        lastId += 1
        tokens(s"token-$lastId") = Token(more, service.now + KinesisQuotas.Lifetime.NextToken.toMillis)
        s"token-$lastId"
      }
      ShardPage(page, token, answeredMillis)
    }

  override def getShardIterator(
      stream: StreamRef,
      shardId: ShardId,
      position: StartingPosition
  ): CompletableFuture[String] =
    answer(Operation.GetShardIterator) {
      val found = service.existing(stream, Operation.GetShardIterator)
      val shard = service.livingShard(found, shardId, Operation.GetShardIterator)
      if (!service.calls.allowsIterator(shard)) throw throttled(Operation.GetShardIterator, shard)
      iterator(found, shard, service.indexOf(shard, position, Operation.GetShardIterator))
    }

  override def getRecords(stream: StreamRef, iteratorName: String, limit: Int): CompletableFuture[RecordPage] =
    answer(Operation.GetRecords) {
      val found = service.existing(stream, Operation.GetRecords)
      val cursor = iterators.getOrElse(iteratorName, throw invalidIterator)
      if (cursor.stream ne found) throw invalidIterator
      if (cursor.untilMillis < service.now)
        throw service.refused(ServiceErrorKind.ExpiredIterator, Operation.GetRecords, "Iterator expired.")
      val shard = service.livingShard(found, cursor.shard.id, Operation.GetRecords)
      if (!service.calls.allowsRecords(shard)) throw throttled(Operation.GetRecords, shard)
      page(found, shard, math.max(cursor.index, shard.trimmed), limit)
    }

  private def page(stream: ModelStream, shard: ModelShard, from: Int, limit: Int): RecordPage = {
    val most = math.min(limit, service.settings.recordsPerAnswer)
    val isEmpty = from < shard.records.size && service.faults.answersEmpty()
    val records =
      if (isEmpty) Vector.empty else Pages.of(shard, from, most, KinesisQuotas.Request.GetRecordsBytes.toLong)
    val next = from + records.size
    service.calls.answered(shard, PackedRecords.sizeOf(records))
    if (service.tellsEnd(shard, next, records.isEmpty))
      RecordPage(records, None, 0, Pages.children(service, shard))
    else RecordPage(records, Some(iterator(stream, shard, next)), service.millisBehind(shard, next), Nil)
  }

  private def iterator(stream: ModelStream, shard: ModelShard, index: Int): String = {
    lastId += 1
    val name = s"iterator-$lastId"
    iterators(name) = Cursor(stream, shard, index, service.now + KinesisQuotas.Lifetime.ShardIterator.toMillis)
    if (lastId % 1024 == 0) iterators.filterInPlace((_, cursor) => cursor.untilMillis > service.now - 60000)
    name
  }

  override def registerStreamConsumer(streamArn: String, name: String): CompletableFuture[StreamConsumer] =
    answer(Operation.RegisterStreamConsumer, streamArn)(service.consumers.register(streamArn, name))

  override def describeStreamConsumer(streamArn: String, name: String): CompletableFuture[StreamConsumer] =
    answer(Operation.DescribeStreamConsumer, streamArn)(service.consumers.named(streamArn, name))

  override def describeStreamConsumer(arn: String): CompletableFuture[StreamConsumer] =
    answer(Operation.DescribeStreamConsumer, arn)(service.consumers.existing(arn, Operation.DescribeStreamConsumer))

  override def listStreamConsumers(streamArn: String, next: Option[String]): CompletableFuture[StreamConsumerPage] =
    answer(Operation.ListStreamConsumers)(StreamConsumerPage(service.consumers.of(streamArn), None))

  override def deregisterStreamConsumer(arn: String): CompletableFuture[Unit] =
    answer(Operation.DeregisterStreamConsumer, arn)(service.consumers.deregister(arn))

  override def subscribeToShard(
      consumerArn: String,
      shard: ShardId,
      position: StartingPosition,
      subscriber: ShardSubscriber
  ): ShardSubscription = {
    service.calls.count(Operation.SubscribeToShard)
    val opened = new ModelSubscription(service, subscriber, () => isAlive() && !isUnreachable)
    service.scheduler.schedule(service.latencyMillis.millis) {
      if (isAlive())
        service.faults.of(process, Operation.SubscribeToShard) match {
          case Some(error) => opened.refuse(error)
          case None =>
            try service.consumers.subscribe(consumerArn, shard, position, opened)
            catch { case error: ServiceException => opened.refuse(error) }
        }
    }
    opened
  }

  override def change(stream: StreamRef, change: ChangeRequest): CompletableFuture[Unit] = notRead(change.operation)
  override def listStreams(after: Option[String]): CompletableFuture[StreamNamePage] = notRead(Operation.ListStreams)
  override def putRecords(stream: StreamRef, entries: IndexedSeq[PutEntry]): CompletableFuture[IndexedSeq[PutResult]] =
    puts.put(stream, entries)
  override def close(): Unit = ()

  private def notRead[A](operation: Operation): CompletableFuture[A] =
    CompletableFuture.failedFuture(new UnsupportedOperationException(s"$operation is no part of reading"))

  private def isUnreachable: Boolean = service.faults.holds(ServiceFault.Unreachable(process)) ||
    service.faults.holds(ServiceFault.Unreachable("*"))

  /**
   * @param of
   *   the resource whose quota counts the call; empty if each shard has its own
   */
  private def answer[A](operation: Operation, of: String = "", hasToken: Boolean = false)(
      body: => A
  ): CompletableFuture[A] = {
    service.calls.count(operation)
    val result = new CompletableFuture[A]
    service.scheduler.schedule(service.latencyMillis.millis) {
      if (isAlive()) {
        try {
          service.faults.of(process, operation, hasToken).foreach(throw _)
          if (!service.calls.allows(operation, of))
            throw service.refused(ServiceErrorKind.LimitExceeded, operation, s"Rate exceeded for $of")
          result.complete(body)
        } catch { case error: ServiceException => result.completeExceptionally(error) }
        ()
      }
    }
    result
  }

  private def throttled(operation: Operation, shard: ModelShard): ServiceException =
    service.refused(ServiceErrorKind.Throttled, operation, s"Rate exceeded for Shard - ${shard.id}")

  private def invalidIterator: ServiceException =
    service.refused(ServiceErrorKind.InvalidArgument, Operation.GetRecords, "Invalid ShardIterator.")
}

private object ModelClient {
  final case class Cursor(stream: ModelStream, shard: ModelShard, index: Int, untilMillis: Long)
  final case class Token(rest: Seq[Shard], untilMillis: Long)
}

/** Creates the content of answers and events. */
private[model] object Pages {

  /** Returns records up to a number of records and of bytes, but at least one record if there is one. */
  def of(shard: ModelShard, from: Int, most: Int, mostBytes: Long): Vector[KinesisRecord] = {
    var bytes = 0L
    shard.records.iterator.slice(from, from + most).map(_.record).takeWhile { record =>
      bytes += record.size
      bytes <= mostBytes || bytes == record.size
    }.toVector
  }

  def children(service: ModelKinesis, shard: ModelShard): Seq[ChildShard] =
    if (service.faults.holds(ServiceFault.EndWithoutChildren)) Nil else shard.children.map(_.asChild)
}
