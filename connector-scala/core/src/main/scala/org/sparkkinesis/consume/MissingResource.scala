package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.StreamRef
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
  ): CompletableFuture[ServiceException] =
    missing(
      service.describeStream(stream),
      rules
    )(_.status, Operation.DescribeStreamSummary).thenApply(_.getOrElse(error))

  def find(
      service: KinesisService,
      error: ServiceException,
      stream: StreamRef,
      consumerArn: String,
      rules: RetryRules
  ): CompletableFuture[ServiceException] =
    missing(service.describeStream(stream), rules)(_.status, Operation.DescribeStreamSummary).thenCombine(
      missing(service.describeStreamConsumer(consumerArn), rules)(_.status, Operation.DescribeStreamConsumer),
      (stream: Option[ServiceException], consumer: Option[ServiceException]) => stream.orElse(consumer).getOrElse(error)
    )

  /** A resource that is being deleted counts as missing. */
  private def missing[A](
      call: CompletableFuture[A],
      rules: RetryRules
  )(status: A => String, operation: Operation): CompletableFuture[Option[ServiceException]] =
    call.handle { (found, failure) =>
      Option(failure).map(Futures.unwrap) match {
        case Some(error: ServiceException)
            if error.kind == ServiceErrorKind.ResourceNotFound || rules.isRecoverable(error) =>
          Some(error)
        case None if status(found) == "DELETING" =>
          Some(new ServiceException(
            ServiceErrorKind.ResourceNotFound,
            operation,
            "ResourceNotFoundException",
            "The resource is being deleted."
          ))
        case _ => None
      }
    }
}
