package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{KinesisService, Operation, ServiceErrorKind, ServiceException}

/** What a ResourceNotFound was about. */
sealed trait MissingResource

object MissingResource {
  case object Stream extends MissingResource
  case object Consumer extends MissingResource

  /** The shard has expired, or never was. */
  case object Shard extends MissingResource

  /** For an error that `find` gave. */
  def of(error: ServiceException): Option[MissingResource] =
    if (error.kind != ServiceErrorKind.ResourceNotFound) None
    else
      error.operation match {
        case Operation.DescribeStreamSummary => Some(Stream)
        case Operation.DescribeStreamConsumer => Some(Consumer)
        case _ => Some(Shard)
      }

  /**
   * Asks the service which of stream, consumer and shard is not there, and gives the error that says so: the stream's or
   * the consumer's own, else `error` itself. Where the service cannot be asked just now, it is that failure, which is recoverable: a
   * shard must not be taken for gone because of it. Where the question is refused, `error` is all there is.
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

  /** What is being deleted is as good as gone. */
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
            "It is being deleted."
          ))
        case _ => None
      }
    }
}
