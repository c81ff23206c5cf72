package org.sparkkinesis.retry

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{EventSink, OutageBegan, OutageEnded, OutageLasts}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.ServiceException

/**
 * Makes an outage visible that is survived by retries: one event when calls of a stream have failed several times in a
 * row, one for each period while it lasts, however many shards are affected, and one when calls succeed again.
 * Thread-safe.
 */
final class Outages(scheduler: Scheduler, events: EventSink) {
  import Outages._

  final private class Outage(val sinceNanos: Long) {
    val failing = mutable.HashSet.empty[Option[ShardId]]
    val affected = mutable.HashSet.empty[Option[ShardId]]
    var saidNanos: Long = sinceNanos
    def shards: Int = affected.count(_.nonEmpty)
  }

  private val byStream = mutable.HashMap.empty[String, Outage]

  /**
   * Takes note of a failed call that will be made again.
   *
   * @param shard
   *   empty for a call that concerns the stream as a whole
   * @param failures
   *   how often the call has failed in a row
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
        else if (now - outage.saidNanos >= Period.toNanos) {
          outage.saidNanos = now
          Some(OutageLasts(stream, millis(now - outage.sinceNanos), outage.shards, error.getMessage))
        } else None
      }
      event.foreach(events.emit)
    }

  /** Takes note of a call that succeeded; needed only after [[Notable]] failures in a row. */
  def recovered(stream: String, shard: Option[ShardId]): Unit = {
    val ended = remove(stream, shard)
    ended.foreach { outage =>
      events.emit(OutageEnded(stream, millis(scheduler.nanoTime - outage.sinceNanos), outage.shards))
    }
  }

  /** The calls are given up, or not wanted any more: whether they would succeed is not known. */
  def left(stream: String, shard: Option[ShardId]): Unit = {
    remove(stream, shard)
    ()
  }

  /** The outage, if nothing of it is left. */
  private def remove(stream: String, shard: Option[ShardId]): Option[Outage] = synchronized {
    val over = byStream.get(stream).filter(outage => outage.failing.remove(shard) && outage.failing.isEmpty)
    over.foreach(_ => byStream -= stream)
    over
  }

  private def millis(nanos: Long): Long = nanos / 1000000
}

object Outages {

  /** Failures in a row that make an outage. Fewer are normal, and are counted in the metrics only. */
  val Notable = 5
  val Period: FiniteDuration = 30.seconds
}
