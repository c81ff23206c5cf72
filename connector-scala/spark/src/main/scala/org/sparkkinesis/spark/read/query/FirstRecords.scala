package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.consume.FirstArrivals
import org.sparkkinesis.event.{ConsumerMetrics, FirstRecordsUnknown}
import org.sparkkinesis.model.{StartingPosition, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.executor.PublisherFactories
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.check.RetentionCheck

/**
 * Finds out when the first records of ranges arrived, so that a task can report them if they have expired: those of a
 * batch read, and of a batch that an earlier run of a query planned.
 */
final private[read] class FirstRecords(session: StreamSession, environment: Environment) {
  import FirstRecords._

  /**
   * Adds when the first records arrived, where they may expire before a task reads them. Blocks for a bounded time. An
   * event names the shards that were not read in this time.
   */
  def of(ranges: Seq[ShardRange], nowMillis: Long): Seq[ShardRange] = {
    val found = arrivals(ranges, nowMillis)
    ranges.map(range => range.copy(firstArrivalMillis = found.get(range.shard)))
  }

  /** Returns when the first records arrived, in epoch milliseconds, as [[of]] does. */
  def arrivals(ranges: Seq[ShardRange], nowMillis: Long): Map[StreamShard, Long] = {
    val expiring = ranges.filter { range =>
      mayExpire(range.after, session.oldestMillis(range.shard.stream), nowMillis)
    }
    if (expiring.isEmpty) Map.empty else look(expiring, nowMillis)
  }

  private def look(expiring: Seq[ShardRange], nowMillis: Long): Map[StreamShard, Long] = {
    val publishers = PublisherFactories.polling(
      () => session.settings,
      environment.sharedScheduler,
      new ConsumerMetrics,
      environment,
      session.events
    )
    try {
      val found = FirstArrivals.of(
        publishers,
        expiring.map(range => range.shard -> range.after),
        RetentionCheck.safeMillis(nowMillis),
        LongestLook,
        environment.waiting
      )
      found.unknown.groupMap(_.stream)(_.shard).foreach { case (stream, shards) =>
        session.events.emit(FirstRecordsUnknown(stream, shards))
      }
      found.arrivals.filter { case (_, arrival) => expiresSoon(arrival, nowMillis) }
    } finally publishers.close()
  }
}

private[read] object FirstRecords {

  /** Maximum time for looking at the first records of all shards. */
  val LongestLook: FiniteDuration = 30.seconds

  /**
   * Returns whether the first record after a position may expire before a task reads it. A position before the
   * retention period means the oldest record, which is another one at any moment.
   *
   * @param oldestMillis
   *   a time before which the records of the stream have expired
   */
  def mayExpire(position: StartingPosition, oldestMillis: Long, nowMillis: Long): Boolean = position match {
    case StartingPosition.AtTimestamp(from) => from >= oldestMillis && expiresSoon(from, nowMillis)
    case StartingPosition.AtSequenceNumber(_) | StartingPosition.AfterSequenceNumber(_) => true
    case StartingPosition.TrimHorizon | StartingPosition.Latest => false
  }

  /** Returns whether a record may expire before a task reads it, also if the retention period is decreased. */
  def expiresSoon(arrivalMillis: Long, nowMillis: Long): Boolean = arrivalMillis < RetentionCheck.safeMillis(nowMillis)
}
