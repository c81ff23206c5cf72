package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, PacedCalls, Scheduler}
import org.sparkkinesis.model.{ConsumerStatus, StreamRef, StreamStatus}
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{
  KinesisService, Operation, ServiceErrorKind, ServiceException, StreamConsumer, StreamDescription
}

/** The resource that a ResourceNotFound error refers to. */
sealed trait MissingResource

object MissingResource {
  case object Stream extends MissingResource
  case object Consumer extends MissingResource

  /** The shard has expired or never existed. */
  case object Shard extends MissingResource

  /** Returns the missing resource of an error that [[MissingResources.find]] returned. */
  def of(error: ServiceException): Option[MissingResource] =
    if (error.kind != ServiceErrorKind.ResourceNotFound) None
    else
      error.operation match {
        case Operation.DescribeStreamSummary => Some(Stream)
        case Operation.DescribeStreamConsumer => Some(Consumer)
        case _ => Some(Shard)
      }
}

/**
 * Asks the service whether the stream, the consumer or the shard is missing. All shards of a stream may be missing at
 * the same time, and the quotas are low: 20 calls of DescribeStreamSummary per second for an account, and as many of
 * DescribeStreamConsumer for a stream. So the shards of a stream share the calls.
 *
 * @param rules
 *   tells temporary failures from others
 */
final class MissingResources(scheduler: Scheduler, rules: RetryRules) {
  import MissingResources._

  private val streams = new PacedCalls[StreamRef, StreamDescription](scheduler, CallPeriod)
  private val consumers = new PacedCalls[String, StreamConsumer](scheduler, CallPeriod)

  /**
   * Returns the error of the missing resource. If only the shard is missing, that is `error`. If the service cannot be
   * reached, the result is that recoverable failure, so that the shard is not considered missing because of an outage.
   * If the service refuses the question, the result is `error`.
   */
  def find(service: KinesisService, error: ServiceException, stream: StreamRef): CompletableFuture[ServiceException] =
    missingStream(service, stream).thenApply(_.getOrElse(error))

  /** Returns the error of the missing resource, which may also be the consumer of the stream. */
  def find(
      service: KinesisService,
      error: ServiceException,
      stream: StreamRef,
      consumerArn: String
  ): CompletableFuture[ServiceException] =
    missingStream(service, stream).thenCombine(
      missing(consumers(consumerArn)(service.describeStreamConsumer(consumerArn)), Operation.DescribeStreamConsumer)(
        _.status == ConsumerStatus.Deleting
      ),
      (stream: Option[ServiceException], consumer: Option[ServiceException]) => stream.orElse(consumer).getOrElse(error)
    )

  private def missingStream(service: KinesisService, stream: StreamRef): CompletableFuture[Option[ServiceException]] =
    missing(streams(stream)(service.describeStream(stream)), Operation.DescribeStreamSummary)(
      _.status == StreamStatus.Deleting
    )

  /** A resource that is being deleted counts as missing. */
  private def missing[A](
      call: CompletableFuture[A],
      operation: Operation
  )(isDeleting: A => Boolean): CompletableFuture[Option[ServiceException]] =
    call.handle { (found, failure) =>
      Option(failure).map(Futures.unwrap) match {
        case Some(error: ServiceException) =>
          Option.when(error.kind == ServiceErrorKind.ResourceNotFound || rules.isRecoverable(error))(error)
        case Some(other) => Some(ServiceException.unexpected(operation, other))
        case None if isDeleting(found) =>
          Some(new ServiceException(
            ServiceErrorKind.ResourceNotFound,
            operation,
            ServiceException.ResourceNotFoundCode,
            "The resource is being deleted."
          ))
        case None => None
      }
    }
}

private object MissingResources {

  /** Minimum time between two calls for one resource. */
  val CallPeriod: FiniteDuration = 1.second
}
