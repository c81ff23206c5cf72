package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.{ConsumerStatus, StreamRef, StreamStatus}
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException}

/** The resource that a ResourceNotFound error refers to. */
sealed trait MissingResource

object MissingResource {
  case object Stream extends MissingResource
  case object Consumer extends MissingResource

  /** The shard has expired or never existed. */
  case object Shard extends MissingResource

  /** Returns the missing resource of an error that `find` returned. */
  def of(error: ServiceException): Option[MissingResource] =
    if (error.kind != ServiceErrorKind.ResourceNotFound) None
    else
      error.operation match {
        case Operation.DescribeStreamSummary => Some(Stream)
        case Operation.DescribeStreamConsumer => Some(Consumer)
        case _ => Some(Shard)
      }

  /**
   * Asks the service whether the stream, the consumer or the shard is missing, and returns the corresponding error. If
   * only the shard is missing, that is `error`. If the service cannot be reached, the result is that recoverable
   * failure, so that the shard is not considered missing because of an outage. If the service refuses the question, the
   * result is `error`.
   */
  def find(
      service: KinesisService,
      error: ServiceException,
      stream: StreamRef,
      rules: RetryRules
  ): CompletableFuture[ServiceException] = missingStream(service, stream, rules).thenApply(_.getOrElse(error))

  def find(
      service: KinesisService,
      error: ServiceException,
      stream: StreamRef,
      consumerArn: String,
      rules: RetryRules
  ): CompletableFuture[ServiceException] =
    missingStream(service, stream, rules).thenCombine(
      missing(service.describeStreamConsumer(consumerArn), Operation.DescribeStreamConsumer, rules)(
        _.status == ConsumerStatus.Deleting
      ),
      (stream: Option[ServiceException], consumer: Option[ServiceException]) => stream.orElse(consumer).getOrElse(error)
    )

  private def missingStream(
      service: KinesisService,
      stream: StreamRef,
      rules: RetryRules
  ): CompletableFuture[Option[ServiceException]] =
    missing(service.describeStream(stream), Operation.DescribeStreamSummary, rules)(_.status == StreamStatus.Deleting)

  /** A resource that is being deleted counts as missing. */
  private def missing[A](
      call: CompletableFuture[A],
      operation: Operation,
      rules: RetryRules
  )(isDeleting: A => Boolean): CompletableFuture[Option[ServiceException]] =
    call.handle { (found, failure) =>
      Option(failure).map(Futures.unwrap) match {
        case Some(error: ServiceException)
            if error.kind == ServiceErrorKind.ResourceNotFound || rules.isRecoverable(error) =>
          Some(error)
        case None if isDeleting(found) =>
          Some(new ServiceException(
            ServiceErrorKind.ResourceNotFound,
            operation,
            ServiceException.ResourceNotFoundCode,
            "The resource is being deleted."
          ))
        case _ => None
      }
    }
}
