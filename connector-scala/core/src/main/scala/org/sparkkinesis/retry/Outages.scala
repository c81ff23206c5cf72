package org.sparkkinesis.retry

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{EventSink, OutageBegan, OutageEnded, OutageLasts}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.ServiceException

/**
 * Reports outages that retries survive. It emits one event when calls of a stream have failed several times in a row,
 * one per period while the outage lasts, independently of the number of shards, and one when calls succeed again.
 * Thread-safe.
 */
final class Outages(scheduler: Scheduler, events: EventSink) {
  import Outages._

  final private class Outage(val sinceNanos: Long) {
    val failing = mutable.HashSet.empty[Option[ShardId]]
    val affected = mutable.HashSet.empty[Option[ShardId]]
    var reportedNanos: Long = sinceNanos
    def shards: Int = affected.count(_.nonEmpty)
  }

  private val byStream = mutable.HashMap.empty[String, Outage]

  /**
   * Records a failed call that is retried.
   *
   * @param shard
   *   empty for a call that concerns the whole stream
   * @param failures
   *   number of consecutive failures of the call
   */
  def failed(stream: String, shard: Option[ShardId], failures: Int, error: ServiceException): Unit =
    if (failures >= Notable) {
      val event = synchronized {
        val now = scheduler.nanoTime
        val isNew = !byStream.contains(stream)
        val outage = byStream.getOrElseUpdate(stream, new Outage(now))
        outage.failing += shard
        outage.affected += shard
        if (isNew) Some(OutageBegan(stream, shard, failures, error.getMessage))
        else if (now - outage.reportedNanos >= Period.toNanos) {
          outage.reportedNanos = now
          Some(OutageLasts(stream, millis(now - outage.sinceNanos), outage.shards, error.getMessage))
        } else None
      }
      event.foreach(events.emit)
    }

  /** Records a successful call. Required only after at least [[Notable]] consecutive failures. */
  def recovered(stream: String, shard: Option[ShardId]): Unit = {
    val ended = remove(stream, shard)
    ended.foreach { outage =>
      events.emit(OutageEnded(stream, millis(scheduler.nanoTime - outage.sinceNanos), outage.shards))
    }
  }

  /** Records that the calls are no longer made. Whether they would succeed is unknown. */
  def left(stream: String, shard: Option[ShardId]): Unit = {
    remove(stream, shard)
    ()
  }

  /** Returns the outage if no failing call remains. */
  private def remove(stream: String, shard: Option[ShardId]): Option[Outage] = synchronized {
    val over = byStream.get(stream).filter(outage => outage.failing.remove(shard) && outage.failing.isEmpty)
    over.foreach(_ => byStream -= stream)
    over
  }

  private def millis(nanos: Long): Long = nanos / 1000000
}

object Outages {

  /** Number of consecutive failures that make an outage. Fewer are normal and only counted in metrics. */
  val Notable = 5
  val Period: FiniteDuration = 30.seconds
}
