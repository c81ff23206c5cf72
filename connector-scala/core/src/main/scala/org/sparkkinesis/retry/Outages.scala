package org.sparkkinesis.retry

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.event.{EventSink, OngoingOutage, OutageBegan, OutageEnded, OutageLasts}
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
    var reason = ""

    /** The time at which a call for any shard of the stream last received an answer, which may be a refusal. */
    var answeredNanos: Long = sinceNanos
    def shards: Int = affected.count(_.nonEmpty)
  }

  private val byStream = mutable.HashMap.empty[String, Outage]

  /** Avoids the lock for successful calls while there is no outage. */
  @volatile private var hasOutage = false

  /**
   * Records a failed call that is retried.
   *
   * @param shard
   *   empty for a call that concerns the whole stream
   * @param failures
   *   number of consecutive failures of the call
   */
  def failed(stream: String, shard: Option[ShardId], failures: Int, error: ServiceException): Unit = {
    if (error.isAnswer) answered(stream)
    if (failures >= Notable) {
      val event = synchronized {
        val now = scheduler.nanoTime
        val isNew = !byStream.contains(stream)
        val outage = byStream.getOrElseUpdate(stream, new Outage(now))
        hasOutage = true
        outage.failing += shard
        outage.affected += shard
        outage.reason = error.getMessage
        if (isNew) Some(OutageBegan(stream, shard, failures, error.getMessage))
        else if (now - outage.reportedNanos >= Period.toNanos) {
          outage.reportedNanos = now
          Some(OutageLasts(stream, millis(now - outage.sinceNanos), outage.shards, error.getMessage))
        } else None
      }
      event.foreach(events.emit)
    }
  }

  /** Records a successful call. Required only after at least [[Notable]] consecutive failures. */
  def recovered(stream: String, shard: Option[ShardId]): Unit = {
    val ended = remove(stream, shard)
    ended.foreach { outage =>
      events.emit(OutageEnded(stream, millis(scheduler.nanoTime - outage.sinceNanos), outage.shards))
    }
  }

  /** Records an answer of the service, which may be a refusal: the stream is reachable. */
  def answered(stream: String): Unit = if (hasOutage) synchronized {
    byStream.get(stream).foreach(_.answeredNanos = scheduler.nanoTime)
  }

  /** Returns the streams whose calls fail and have received no answer for at least [[Silence]]. */
  def unreachable: Set[String] =
    if (!hasOutage) Set.empty
    else synchronized {
      val now = scheduler.nanoTime
      byStream.collect { case (stream, outage) if now - outage.answeredNanos >= Silence.toNanos => stream }.toSet
    }

  /** Returns the present outages. */
  def ongoing: Seq[OngoingOutage] =
    if (!hasOutage) Nil
    else synchronized {
      val now = scheduler.nanoTime
      byStream.toVector.sortBy(_._1).map { case (stream, outage) =>
        OngoingOutage(stream, outage.shards, millis(now - outage.sinceNanos), outage.reason)
      }
    }

  /** The calls are given up, or not wanted any more: whether they would succeed is not known. */
  def left(stream: String, shard: Option[ShardId]): Unit = {
    remove(stream, shard)
    ()
  }

  /** Returns the outage if no failing call remains. */
  private def remove(stream: String, shard: Option[ShardId]): Option[Outage] = synchronized {
    val over = byStream.get(stream).filter(outage => outage.failing.remove(shard) && outage.failing.isEmpty)
    over.foreach(_ => byStream -= stream)
    hasOutage = byStream.nonEmpty
    over
  }

  private def millis(nanos: Long): Long = nanos / 1000000
}

object Outages {

  /** Number of consecutive failures that make an outage. Fewer are normal and only counted in metrics. */
  val Notable = 5
  val Period: FiniteDuration = 30.seconds

  /** A stream is unreachable after this time without an answer. */
  val Silence: FiniteDuration = 10.seconds
}
