package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletableFuture.{completedFuture, failedFuture}
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.shard.{ShardLister, ShardMap}

/**
 * Lists the shards while a sink continues to write, and repeats the listing while a shard is missing, at most
 * [[ShardLister.Listings]] times. Thread-safe and non-blocking.
 *
 * [[ShardLister]] makes a single listing, and repeats it for a reader. A sink repeats the listings of its
 * [[OpenShards]] instead, because these also belong to the other sinks of the stream, and because a request that needs
 * the shards must not wait for more than one of them.
 */
final private[kinesis] class BackgroundListing(scheduler: Scheduler) {
  private val running = new AtomicReference[CompletableFuture[ShardMap]]

  /** Starts a listing, or returns the one in progress. */
  def begin(list: () => CompletableFuture[ShardMap]): CompletableFuture[ShardMap] = {
    val mine = new CompletableFuture[ShardMap]
    val shared = running.updateAndGet(now => if (now == null || now.isDone) mine else now)
    if (shared eq mine) untilComplete(list).whenComplete { (map, error) =>
      if (error == null) mine.complete(map) else mine.completeExceptionally(Futures.unwrap(error))
      ()
    }
    shared
  }

  private def untilComplete(list: () => CompletableFuture[ShardMap]): CompletableFuture[ShardMap] =
    ShardLister.repeat(scheduler, _ => BackgroundListing.Pause) { () =>
      list().handle[Either[Throwable, ShardMap]]((map, error) => Option(Futures.unwrap(error)).toLeft(map))
    } {
      case Left(_: IncompleteListingException) => false
      case _ => true
    }.thenCompose {
      case Right(map) => completedFuture(map)
      case Left(error) => failedFuture(error)
    }
}

private[kinesis] object BackgroundListing {
  val Pause: FiniteDuration = 1.second
}
