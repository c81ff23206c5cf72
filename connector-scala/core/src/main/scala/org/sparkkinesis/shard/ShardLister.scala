package org.sparkkinesis.shard

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{Shard, StreamRef}
import org.sparkkinesis.retry.{Retrier, RetryPolicy}
import org.sparkkinesis.service.{ServiceErrorKind, ServiceException, ShardFilter, ShardPage}

/**
 * Lists the shards of a stream. Non-blocking and thread-safe. Futures fail with the last error after all retries.
 *
 * @param listShards
 *   requests one page of ListShards: of this stream, with this filter, after this token
 * @param retrier
 *   retries each call
 * @param policy
 *   retry policy of ListShards; its pauses also apply between two listings
 */
final class ShardLister(
    listShards: (StreamRef, ShardFilter, Option[String]) => CompletableFuture[ShardPage],
    retrier: Retrier,
    policy: RetryPolicy,
    scheduler: Scheduler
) {

  /** Returns all pages, with each shard once. If the token expires, the listing starts again. */
  def list(stream: StreamRef, filter: ShardFilter): CompletableFuture[Seq[Shard]] =
    pages(stream, filter, None, Vector.empty).thenApply((shards: Vector[Shard]) => shards.distinctBy(_.id))

  /**
   * Like `list`, but repeats the listing while a shard is missing, at most [[ShardLister.Listings]] times. Returns the
   * shards of all these listings, as the last one of them that has it describes each shard.
   */
  def complete(stream: StreamRef, filter: ShardFilter): CompletableFuture[ShardListing] = {
    val seen = new AtomicReference(Seq.empty[Shard])
    ShardLister.repeat(scheduler, policy.bound) { () =>
      list(stream, filter).thenApply[ShardListing] { (listed: Seq[Shard]) =>
        val shards = seen.updateAndGet(before => (listed ++ before).distinctBy(_.id))
        ShardListing(shards, ShardListing.uncovered(shards))
      }
    }(_.gap.isEmpty)
  }

  private def pages(
      stream: StreamRef,
      filter: ShardFilter,
      token: Option[String],
      before: Vector[Shard]
  ): CompletableFuture[Vector[Shard]] = {
    val answer = retrier.retry(policy)(() => listShards(stream, filter, token))
      .handle[Either[Throwable, ShardPage]]((page, failure) => Option(failure).map(Futures.unwrap).toLeft(page))
    answer.thenCompose {
      case Right(ShardPage(found, None, _)) => CompletableFuture.completedFuture(before ++ found)
      case Right(ShardPage(found, next, _)) => pages(stream, filter, next, before ++ found)
      case Left(error: ServiceException) if error.kind == ServiceErrorKind.ExpiredNextToken && token.nonEmpty =>
        pages(stream, filter, None, Vector.empty)
      case Left(error) => CompletableFuture.failedFuture(error)
    }
  }
}

object ShardLister {

  /**
   * Maximum number of listings. A reshard is listed completely within seconds; with the default pauses of ListShards,
   * ten listings take about twelve seconds.
   */
  val Listings = 10

  /**
   * Repeats a listing until it is complete, at most [[Listings]] times, and returns the last one. A failed listing is
   * not repeated.
   *
   * @param pause
   *   the pause after the given number of listings
   */
  def repeat[A](scheduler: Scheduler, pause: Int => FiniteDuration)(
      list: () => CompletableFuture[A]
  )(isComplete: A => Boolean): CompletableFuture[A] = {
    def attempt(times: Int): CompletableFuture[A] = list().thenCompose { (listing: A) =>
      if (isComplete(listing) || times == Listings) CompletableFuture.completedFuture(listing)
      else Futures.after(scheduler, pause(times)).thenCompose((_: Unit) => attempt(times + 1))
    }
    attempt(1)
  }
}

/** @param gap hash keys without an open shard, if every listing lacked a shard */
final case class ShardListing(shards: Seq[Shard], gap: Option[HashKeyRange])

object ShardListing {

  /**
   * Returns hash keys without an open shard. Open shards always cover the whole key space, so a gap means that the
   * listing lacks a shard. A query that starts with this listing would never read that shard.
   */
  def uncovered(listed: Seq[Shard]): Option[HashKeyRange] =
    HashKeyRange.gap(HashKeyRange.Whole, listed.filter(_.isOpen).map(_.hashKeyRange))
}
