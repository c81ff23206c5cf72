package org.sparkkinesis.spark.read.batch

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.model.{SequenceNumber, StartingPosition, StreamRef}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.plan.prune.PrunedRange
import org.sparkkinesis.service.{KinesisService, ServiceErrorKind, ServiceException, ServiceLease}

/**
 * Begins ranges at sequence numbers that a filter names. Only the service knows whether a number is one of a shard, so
 * it is asked for an iterator. A range whose number it refuses begins where it began without the filter.
 */
private[read] object NumberPositions {

  /** Maximum time to wait for the service. */
  val LongestWait: FiniteDuration = 10.seconds

  /** @param client returns the client for a stream by its ARN */
  def of(ranges: Seq[PrunedRange], client: String => ServiceLease[KinesisService]): Seq[ShardRange] =
    if (ranges.forall(_.from.isEmpty)) ranges.map(_.range)
    else Using.Manager { use =>
      val clients = ranges.filter(_.from.nonEmpty).map(_.range.shard.stream).distinct
        .map(arn => arn -> use(client(arn)).service).toMap
      val answers = ranges.map(one =>
        one.from.fold(CompletableFuture.completedFuture(Option(one.range))) { number =>
          ask(clients(one.range.shard.stream), one, number)
        }
      )
      ranges.zip(answers).flatMap { case (one, answer) =>
        answer.completeOnTimeout(Some(one.range), LongestWait.toMillis, TimeUnit.MILLISECONDS).join()
      }
    }.get

  private def ask(
      service: KinesisService,
      pruned: PrunedRange,
      number: SequenceNumber
  ): CompletableFuture[Option[ShardRange]] = {
    val range = pruned.range
    val stream = StreamRef.parse(range.shard.stream).getOrElse(StreamRef.ByName(range.stream))
    val at = StartingPosition.AtSequenceNumber(number)
    service.getShardIterator(stream, range.shard.shard, at).handle[Option[ShardRange]] { (_, failure) =>
      if (failure == null) Some(range.copy(after = at))
      else
        Futures.unwrap(failure) match {
          // The shard has no record with this number.
          case refused: ServiceException if refused.kind == ServiceErrorKind.InvalidArgument && pruned.isOneNumber =>
            None
          // The task finds any other failure, and retries it.
          case _ => Some(range)
        }
    }
  }
}
