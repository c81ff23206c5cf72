package org.sparkkinesis.shard

import java.util.concurrent.CompletableFuture

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.model.{HashKeyRange, Shard, StreamRef}
import org.sparkkinesis.retry.{Retrier, RetryPolicy}
import org.sparkkinesis.service.{KinesisService, ServiceErrorKind, ServiceException, ShardFilter, ShardPage}

/**
 * Lists a stream's shards. Never blocks; thread-safe. Futures fail with what the service answered after the last retry.
 *
 * @param retrier
 *   makes each call
 * @param policy
 *   of ListShards; its pauses are also those between two listings
 */
final class ShardLister(service: KinesisService, retrier: Retrier, policy: RetryPolicy, scheduler: Scheduler) {

  /** All pages, each shard once. A listing whose token expired on the way is begun anew. */
  def list(stream: StreamRef, filter: ShardFilter): CompletableFuture[Seq[Shard]] =
    pages(stream, filter, None, Vector.empty).thenApply((shards: Vector[Shard]) => shards.distinctBy(_.id))

  /** The same, asked for again while it lacks a shard, at most [[ShardLister.Listings]] times. */
  def complete(stream: StreamRef, filter: ShardFilter): CompletableFuture[ShardListing] = listed(stream, filter, 1)

  private def listed(stream: StreamRef, filter: ShardFilter, times: Int): CompletableFuture[ShardListing] =
    list(stream, filter).thenCompose { (shards: Seq[Shard]) =>
      val gap = ShardListing.uncovered(shards)
      if (gap.isEmpty || times == ShardLister.Listings) CompletableFuture.completedFuture(ShardListing(shards, gap))
      else {
        val again = new CompletableFuture[Unit]
        scheduler.schedule(policy.bound(times)) {
          again.complete(())
          ()
        }
        again.thenCompose((_: Unit) => listed(stream, filter, times + 1))
      }
    }

  private def pages(
      stream: StreamRef,
      filter: ShardFilter,
      token: Option[String],
      before: Vector[Shard]
  ): CompletableFuture[Vector[Shard]] = {
    val answer = retrier.retry(policy)(() => service.listShards(stream, filter, token))
      .handle[Either[Throwable, ShardPage]]((page, failure) => Option(failure).map(Futures.unwrap).toLeft(page))
    answer.thenCompose {
      case Right(ShardPage(found, None)) => CompletableFuture.completedFuture(before ++ found)
      case Right(ShardPage(found, next)) => pages(stream, filter, next, before ++ found)
      case Left(error: ServiceException) if error.kind == ServiceErrorKind.ExpiredNextToken && token.nonEmpty =>
        pages(stream, filter, None, Vector.empty)
      case Left(error) => CompletableFuture.failedFuture(error)
    }
  }
}

object ShardLister {

  /** A reshard is listed as a whole within seconds; with the longest default pauses of ListShards these take some twelve. */
  val Listings = 10
}

/**
 * @param gap
 *   hash keys that no open shard takes, when the service left a shard out each time
 */
final case class ShardListing(shards: Seq[Shard], gap: Option[HashKeyRange])

object ShardListing {

  /**
   * Hash keys that no open shard of a listing takes. Open shards share the whole key space at any moment: a listing that
   * leaves some of it out lacks a shard, and a query that began with it would never read that one.
   */
  def uncovered(listed: Seq[Shard]): Option[HashKeyRange] =
    HashKeyRange.gap(HashKeyRange.Whole, listed.filter(_.isOpen).map(_.hashKeyRange))
}
