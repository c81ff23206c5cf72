package org.sparkkinesis.spark.connection

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{CompletableFuture, CompletionException, ExecutionException}

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.{ReadErrors, ServiceErrors}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{CallRetried, ListingIncomplete}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{KinesisQuotas, Shard, ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.retry.{Outages, Retrier, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{
  ChangeRequest, KinesisService, Operation, ServiceErrorKind, ServiceException, ServiceLease, ShardFilter,
  StreamDescription, TunableOperation
}
import org.sparkkinesis.shard.ShardLister

/**
 * Describes streams and lists shards, on the driver. Each method blocks until the service has answered. The creator
 * closes it.
 *
 * @param clock
 *   receives the times in the service's answers
 */
final class StreamMetadata(
    settings: ClientSettings,
    policies: RetryPolicies,
    rules: RetryRules,
    clock: ServiceClock,
    environment: Environment = Environment.OfJvm,
    query: QueryContext = QueryContext.Unknown
) extends AutoCloseable {
  private val lease: ServiceLease[KinesisService] = environment.client(settings)
  private val threads = environment.scheduler("kinesis-directory", 1)
  private val events = environment.events(query)
  private val outages = new Outages(scheduler, events)

  def service: KinesisService = lease.service
  def scheduler: Scheduler = threads

  /**
   * Describes a stream that can be used: its name, ARN, creation time and record size limit.
   *
   * @throws KinesisConnectorException
   *   KINESIS_STREAM_NOT_FOUND, KINESIS_STREAM_UNUSABLE, KINESIS_ACCESS_DENIED, KINESIS_CREDENTIALS_FAILED,
   *   KINESIS_ENDPOINT_UNREACHABLE
   */
  def describe(stream: StreamRef): StreamDescription = {
    val found =
      ask(Operation.DescribeStreamSummary, stream.name, timeLimit(Operation.DescribeStreamSummary))(
        _.retry(policies(Operation.DescribeStreamSummary))(() => pacedDescription(stream))
      )
    if (!found.status.isUsable)
      throw ServiceErrors.streamUnusable(stream = stream.name, status = found.status.name)
    found
  }

  /** Describes a stream in any state. It fails within seconds if the service cannot be reached. */
  def probe(stream: StreamRef): StreamDescription =
    ask(Operation.DescribeStreamSummary, stream.name, Some(StreamMetadata.ShortestWait))(
      _.retry(StreamMetadata.Probe)(() => description(stream))
    )

  /** Requests a change of a stream. The service answers before it has made the change. */
  def change(stream: StreamRef, change: ChangeRequest): Unit =
    ask(change.operation, stream.name, Some(StreamMetadata.LongestWait))(
      _.retry(StreamMetadata.Probe)(() => service.change(stream, change))
    )

  /** Returns all pages of ListShards. If a token expires, the listing starts again. */
  def shards(stream: StreamRef, filter: ShardFilter): Seq[Shard] =
    ask(Operation.ListShards, stream.name, timeLimit(Operation.ListShards))(lister(_).list(stream, filter))

  /**
   * Returns all shards, like [[shards]], and lists again while the hash key ranges have a gap.
   *
   * @param failOnDataLoss
   *   whether a listing that stays incomplete is an error; otherwise the incomplete listing is returned and an event
   *   reports it
   * @throws KinesisConnectorException
   *   KINESIS_LISTING_INCOMPLETE
   */
  def allShards(stream: StreamRef, filter: ShardFilter, failOnDataLoss: Boolean): Seq[Shard] = {
    val limit = timeLimit(Operation.ListShards).map(_ * ShardLister.Listings.toLong)
    val listing = ask(Operation.ListShards, stream.name, limit)(lister(_).complete(stream, filter))
    listing.gap.foreach { gap =>
      if (failOnDataLoss) throw StreamMetadata.incomplete(stream, gap)
      events.emit(ListingIncomplete(stream.toString, gap.start, gap.end, ShardLister.Listings))
    }
    listing.shards
  }

  /** Whether the service still has this shard. Unlike a listing, the answer is never old. */
  def hasShard(stream: StreamRef, shard: ShardId): Boolean =
    ask(Operation.GetShardIterator, stream.name, Some(StreamMetadata.LongestWait))(
      _.retry(StreamMetadata.Probe)(() => service.getShardIterator(stream, shard, StartingPosition.TrimHorizon))
        .handle[Boolean] { (_, failure) =>
          Option(failure).map(Futures.unwrap) match {
            case None => true
            case Some(error: ServiceException) if error.kind == ServiceErrorKind.ResourceNotFound => false
            case Some(other) => throw new CompletionException(other)
          }
        }
    )

  private def lister(retrier: Retrier): ShardLister = new ShardLister(
    (stream, filter, next) => timed(service.listShards(stream, filter, next))(_.answeredMillis),
    retrier,
    policies(Operation.ListShards),
    scheduler
  )

  /** Describes a stream in turn: many reads and writes may begin at the same time. */
  private def pacedDescription(stream: StreamRef): CompletableFuture[StreamDescription] = {
    val pause = environment.descriptions.fold(Duration.Zero)(
      _.reserve(Environment.callerOf(settings), environment.clock.nanoTime)
    )
    if (pause == Duration.Zero) description(stream)
    else Futures.after(scheduler, pause).thenCompose((_: Unit) => description(stream))
  }

  private def description(stream: StreamRef): CompletableFuture[StreamDescription] =
    timed(service.describeStream(stream))(_.answeredMillis)

  /**
   * Tells the clock when the service answered. If the machine was suspended meanwhile, the answer may be as old as the
   * suspension, and its time says nothing about the current one, so the call is repeated.
   */
  private def timed[A](call: => CompletableFuture[A])(answered: A => Option[Long]): CompletableFuture[A] = {
    val asked = clock.now
    call.thenCompose { (answer: A) =>
      if (clock.wasSuspendedSince(asked)) timed(call)(answered)
      else {
        answered(answer).foreach(clock.heard(_, asked))
        CompletableFuture.completedFuture(answer)
      }
    }
  }

  /** A call with unlimited retries also has no time limit. */
  private def timeLimit(operation: TunableOperation): Option[FiniteDuration] =
    policies(operation).maxRetries.map(_ => StreamMetadata.LongestWait)

  /** Returns the names of all streams of this account and region. Pages are requested within the quota. */
  def streamNames(): Seq[String] = {
    @scala.annotation.tailrec
    def page(after: Option[String], before: Vector[String]): Vector[String] = {
      val answer = ask(Operation.ListStreams, "*", timeLimit(Operation.ListStreams))(
        _.retry(policies(Operation.ListStreams))(() => service.listStreams(after))
      )
      if (answer.hasMore && answer.names.nonEmpty) {
        environment.waiting.sleep(StreamMetadata.PagePause)
        page(answer.names.lastOption, before ++ answer.names)
      } else before ++ answer.names
    }
    page(None, Vector.empty)
  }

  override def close(): Unit = {
    threads.close()
    lease.close()
  }

  private def ask[A](operation: Operation, stream: String, limit: Option[FiniteDuration])(
      call: Retrier => CompletableFuture[A]
  ): A = {
    val failures = new AtomicInteger
    val throttled = new AtomicBoolean
    val retrier = new Retrier(
      scheduler,
      rules,
      () => environment.random(),
      onRetry = (error, inARow) => {
        failures.set(inARow)
        throttled.set(error.isThrottling)
        events.emit(CallRetried(stream, None, inARow, error.getMessage))
        outages.failed(stream, None, inARow, error)
      }
    )
    try {
      val answer = await(operation, stream, limit, () => throttled.getAndSet(false), call(retrier))
      if (failures.get >= Outages.Notable) outages.recovered(stream, None)
      answer
    } finally outages.left(stream, None)
  }

  /**
   * @param wasThrottled
   *   whether the last failure since the last call was throttling, which does not end a long wait: many queries may
   *   start at the same time
   */
  private def await[A](
      operation: Operation,
      stream: String,
      limit: Option[FiniteDuration],
      wasThrottled: () => Boolean,
      answer: CompletableFuture[A]
  ): A =
    try {
      limit.foreach { longest =>
        while (!environment.waiting.until(answer, longest))
          if (longest < StreamMetadata.LongestWait || !wasThrottled()) throw tooLate(operation, longest)
      }
      environment.waiting.get(answer)
    } catch {
      case failed: ExecutionException =>
        Futures.unwrap(failed) match {
          case error: ServiceException => throw ServiceFailure.explain(error, stream, settings)
          case other => throw other
        }
      case late: ServiceException => throw ServiceFailure.explain(late, stream, settings)
    }

  private def tooLate(operation: Operation, limit: FiniteDuration): ServiceException =
    new ServiceException(ServiceErrorKind.Network, operation, "Timeout", s"no answer within $limit")
}

object StreamMetadata {

  /** The retry policy of calls that must not take long, whatever the options of the query are. */
  private val Probe = RetryPolicies.of(Options.defaults)(Operation.DescribeStreamSummary)
  private val LongestWait = 5.minutes
  private val ShortestWait = 5.seconds

  /** Pause between two pages of ListStreams. It leaves half of the account's quota to other callers. */
  private val PagePause = 2.seconds / KinesisQuotas.CallRate.ListStreamsPerAccount.toLong

  private def incomplete(stream: StreamRef, gap: HashKeyRange) = ReadErrors.listingIncomplete(
    stream = stream.name,
    from = gap.start.toString,
    to = gap.end.toString,
    times = ShardLister.Listings
  )
}
