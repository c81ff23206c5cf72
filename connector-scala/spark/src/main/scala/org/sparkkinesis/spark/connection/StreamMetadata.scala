package org.sparkkinesis.spark.connection

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors, ServiceErrors}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{CallRetried, ListingIncomplete}
import org.sparkkinesis.model.{HashKeyRange, Shard, StreamRef}
import org.sparkkinesis.plan.InitialShards
import org.sparkkinesis.retry.{Outages, Retrier, RetryPolicies, RetryPolicy, RetryRules}
import org.sparkkinesis.service.{
  KinesisService, Operation, ServiceErrorKind, ServiceException, ServiceLease, ShardFilter, ShardPage, StreamDescription
}

/** Asks for streams and shards, on the driver, and waits for the answers. The one who made it closes it. */
final class StreamMetadata(
    settings: ClientSettings,
    policies: RetryPolicies,
    rules: RetryRules,
    environment: Environment = Environment.OfJvm,
    query: QueryContext = QueryContext.Unknown
) extends AutoCloseable {
  private val lease: ServiceLease = environment.client(settings)
  private val threads = environment.scheduler("kinesis-directory", 1)
  private val events = environment.events(query)
  private val outages = new Outages(scheduler, events)

  def service: KinesisService = lease.service
  def scheduler: Scheduler = threads

  /**
   * Name, ARN, creation time and record limit of a stream that can be used.
   *
   * @throws KinesisConnectorException
   *   KINESIS_STREAM_NOT_FOUND, KINESIS_STREAM_UNUSABLE, KINESIS_ACCESS_DENIED, KINESIS_CREDENTIALS_FAILED, KINESIS_ENDPOINT_UNREACHABLE
   */
  def describe(stream: StreamRef): StreamDescription = {
    val found =
      ask(Operation.DescribeStreamSummary, stream.name, StreamMetadata.Describe)(() => service.describeStream(stream))
    if (!StreamMetadata.Usable(found.status))
      throw ServiceErrors.streamUnusable(stream = stream.name, status = found.status)
    found
  }

  /** All pages of ListShards. A listing whose token expired on the way is begun anew. */
  def shards(stream: StreamRef, filter: ShardFilter): Seq[Shard] = {
    @scala.annotation.tailrec
    def page(token: Option[String], before: Vector[Shard]): Vector[Shard] = {
      val answer =
        try Some(ask(Operation.ListShards, stream.name, policies(Operation.ListShards))(() =>
            service.listShards(stream, filter, token)
          ))
        catch { case StreamMetadata.ExpiredToken() if token.nonEmpty => None }
      answer match {
        case None => page(None, Vector.empty)
        case Some(ShardPage(found, Some(next))) => page(Some(next), before ++ found)
        case Some(ShardPage(found, None)) => before ++ found
      }
    }
    page(None, Vector.empty).distinctBy(_.id)
  }

  /**
   * The same, asked again while some shard is missing from it.
   *
   * @param failOnDataLoss
   *   whether a listing that stays incomplete is refused; otherwise it is taken as it is, and an event tells it
   * @throws KinesisConnectorException
   *   KINESIS_LISTING_INCOMPLETE
   */
  def allShards(stream: StreamRef, filter: ShardFilter, failOnDataLoss: Boolean): Seq[Shard] = {
    @scala.annotation.tailrec
    def listed(times: Int): Seq[Shard] = {
      val found = shards(stream, filter)
      InitialShards.uncovered(found) match {
        case Some(_) if times < StreamMetadata.Listings =>
          pause(policies(Operation.ListShards).bound(times))
          listed(times + 1)
        case Some(gap) =>
          if (failOnDataLoss) throw StreamMetadata.incomplete(stream, gap)
          events.emit(ListingIncomplete(stream.toString, gap.start, gap.end, StreamMetadata.Listings))
          found
        case None => found
      }
    }
    listed(1)
  }

  /** Names of all streams of this account and region. */
  def streamNames(): Seq[String] = {
    @scala.annotation.tailrec
    def page(after: Option[String], before: Vector[String]): Vector[String] = {
      val answer = ask(Operation.ListStreams, "*", StreamMetadata.Describe)(() => service.listStreams(after))
      if (answer.hasMore && answer.names.nonEmpty) page(answer.names.lastOption, before ++ answer.names)
      else before ++ answer.names
    }
    page(None, Vector.empty)
  }

  override def close(): Unit = {
    threads.close()
    lease.close()
  }

  private def pause(time: FiniteDuration): Unit = {
    val over = new CompletableFuture[Unit]
    scheduler.schedule(time)(over.complete(()): Unit)
    environment.waiting.get(over)
  }

  private def ask[A](operation: Operation, stream: String, policy: RetryPolicy)(call: () => CompletableFuture[A]): A = {
    val failures = new AtomicInteger
    val retrier = new Retrier(
      scheduler,
      rules,
      () => environment.random(),
      onRetry = (error, inARow) => {
        failures.set(inARow)
        events.emit(CallRetried(stream, None, inARow, error.getMessage))
        outages.failed(stream, None, inARow, error)
      }
    )
    try {
      val answer = await(operation, stream, policy, retrier.retry(policy)(call))
      if (failures.get >= Outages.Notable) outages.recovered(stream, None)
      answer
    } finally outages.left(stream, None)
  }

  private def await[A](operation: Operation, stream: String, policy: RetryPolicy, answer: CompletableFuture[A]): A =
    try {
      // What is tried without end is also waited for without end.
      if (policy.maxRetries.nonEmpty && !environment.waiting.until(answer, StreamMetadata.LongestWait))
        throw tooLate(operation)
      environment.waiting.get(answer)
    } catch {
      case failed: ExecutionException =>
        Futures.unwrap(failed) match {
          case error: ServiceException => throw ServiceFailure.explain(error, stream, settings)
          case other => throw other
        }
      case late: ServiceException => throw ServiceFailure.explain(late, stream, settings)
    }

  private def tooLate(operation: Operation): ServiceException = new ServiceException(
    ServiceErrorKind.Network,
    operation,
    "Timeout",
    s"no answer within ${StreamMetadata.LongestWait}"
  )
}

object StreamMetadata {
  private val Usable = Set("ACTIVE", "UPDATING")

  /** Asked before anything is read: a wrong address or name must show soon, and looks like an outage. */
  private val Describe = RetryPolicy(Some(5), 200.millis, 2.seconds, 1.5)
  private val LongestWait = 5.minutes

  /** A reshard is listed as a whole within seconds; with the longest pauses of ListShards' retries these take some twelve. */
  private val Listings = 10

  private def incomplete(stream: StreamRef, gap: HashKeyRange) = ReadErrors.listingIncomplete(
    stream = stream.name,
    from = gap.start.toString,
    to = gap.end.toString,
    times = Listings
  )

  private object ExpiredToken {
    def unapply(error: KinesisConnectorException): Boolean = error.getCause match {
      case cause: ServiceException => cause.kind == ServiceErrorKind.ExpiredNextToken
      case _ => false
    }
  }
}
