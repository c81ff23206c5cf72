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
 */
final private[kinesis] class BackgroundListing(scheduler: Scheduler) {
  private val running = new AtomicReference[CompletableFuture[ShardMap]]

  /** Starts a listing, or returns the one in progress. */
  def begin(list: () => CompletableFuture[ShardMap]): CompletableFuture[ShardMap] = {
    val mine = new CompletableFuture[ShardMap]
    val shared = running.updateAndGet(now => if (now == null || now.isDone) mine else now)
    if (shared eq mine) untilWhole(list, 1).whenComplete { (map, error) =>
      if (error == null) mine.complete(map) else mine.completeExceptionally(Futures.unwrap(error))
      ()
    }
    shared
  }

  private def untilWhole(list: () => CompletableFuture[ShardMap], times: Int): CompletableFuture[ShardMap] =
    list().handle[CompletableFuture[ShardMap]] { (map, error) =>
      Futures.unwrap(error) match {
        case null => completedFuture(map)
        case _: IncompleteListingException if times < ShardLister.Listings =>
          val again = new CompletableFuture[Unit]
          scheduler.schedule(BackgroundListing.Pause) {
            again.complete(())
            ()
          }
          again.thenCompose((_: Unit) => untilWhole(list, times + 1))
        case other => failedFuture[ShardMap](other)
      }
    }.thenCompose((next: CompletableFuture[ShardMap]) => next)
}

private[kinesis] object BackgroundListing {
  val Pause: FiniteDuration = 1.second
}
