package org.sparkkinesis.spark.executor

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.TaskKilledException

import org.sparkkinesis.concurrent.{Clock, Waiting}
import org.sparkkinesis.model.StreamShard

/**
 * Notifies one task of a real-time batch of its shards that have new records, an end, or a failure. Each shard is
 * queued at most once, so that every shard has its turn. Consumers' threads add shards; the task's thread takes them.
 *
 * @param epoch
 *   the epoch of the task's shards; a later attempt has a higher one
 */
final class LiveFeed(val epoch: Long, clock: Clock, waiting: Waiting) {
  private val news = mutable.LinkedHashSet.empty[StreamShard]
  private var failure: Option[Throwable] = None
  private var closed = false
  @volatile private var ended = false

  /** Wakes the task's thread; replaced when it starts to wait. */
  private var signal = new CompletableFuture[Unit]

  def isOpen: Boolean = synchronized(!closed && failure.isEmpty)

  /** Adds a shard to the end of the queue, unless it is queued already. */
  def tell(shard: StreamShard): Unit = {
    val awake = synchronized {
      news += shard
      signal
    }
    awake.complete(())
    ()
  }

  /**
   * Makes the task fail at its next call. Only the first failure counts. With a `TaskKilledException` the task ends as
   * killed, which Spark does not count as a failure.
   */
  def fail(cause: Throwable): Unit = {
    val awake = synchronized {
      if (failure.isEmpty) failure = Some(cause)
      signal
    }
    awake.complete(())
    ()
  }

  /** Whether the task must end before the time of its batch. */
  def isEnded: Boolean = ended

  /** Ends the task: it hands over no further row. */
  def end(): Unit = {
    val awake = synchronized {
      ended = true
      signal
    }
    awake.complete(())
    ()
  }

  /** Marks the task as closed. */
  def close(): Unit = synchronized { closed = true }

  /** Returns the next shard with an event, or `None` after this time without one or when the task must end. */
  def take(millis: Long): Option[StreamShard] = takeUntil(clock.nanoTime + TimeUnit.MILLISECONDS.toNanos(millis))

  @tailrec
  private def takeUntil(endNanos: Long): Option[StreamShard] = {
    val wait = synchronized {
      failure.foreach {
        case killed: TaskKilledException => throw killed
        case cause => throw new LiveFeedFailed(cause)
      }
      val next = if (ended) None else news.headOption
      next.foreach(news -= _)
      if (next.isEmpty) signal = new CompletableFuture[Unit]
      next.toRight(signal)
    }
    val left = endNanos - clock.nanoTime
    wait match {
      case Right(shard) => Some(shard)
      case Left(_) if left <= 0 || ended => None
      case Left(awake) =>
        waiting.until(awake, left.nanos)
        takeUntil(endNanos)
    }
  }
}

/** Ends a task because its executor's consumers do not serve it any more. Spark runs the task again. */
final class LiveFeedFailed(cause: Throwable)
    extends RuntimeException(s"The consumers of this executor no longer serve the task: ${cause.getMessage}", cause)
