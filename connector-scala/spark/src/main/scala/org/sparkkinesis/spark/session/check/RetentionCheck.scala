package org.sparkkinesis.spark.session.check

import java.time.Instant
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.event.{Loss, RetentionNotRead}
import org.sparkkinesis.model.{KinesisQuotas, ShardId, StreamShard}
import org.sparkkinesis.plan.BatchPlanner
import org.sparkkinesis.plan.offset.{Retention, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.connection.ServiceClock.Moment
import org.sparkkinesis.spark.coordinator.state.{Overtaken, OvertakenShards}
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, OvertakenStore}
import org.sparkkinesis.spark.session.StreamSession

/**
 * Compares positions with the retention periods of the streams, so that the query reports records that expired unread.
 *
 * With `failOnDataLoss`, lost data ends the query. Otherwise an event reports it. For one query's thread, except the
 * times.
 */
final class RetentionCheck(session: StreamSession, files: CheckpointFiles) {
  import RetentionCheck._

  private var isChecked = false

  /** Retention periods in hours that were read again while the query was running, and when. Read by other threads. */
  @volatile private var current = Map.empty[String, (Int, Moment)]

  /** Shards that were read late, until the retention period is read. */
  private lazy val overtaken = {
    val shards = new OvertakenShards
    unjudged.all.foreach(shards.add)
    shards
  }
  private lazy val unjudged = new OvertakenStore(files)

  /** Time when a retention period could not be read. */
  private var failed = Option.empty[Moment]

  /**
   * Checks once whether records after the positions may have expired while the query was stopped.
   *
   * @param graphs
   *   the lineage of each stream, because the children of finished shards may have expired as well
   */
  def warnOfExpired(offset: SourceOffset, graphs: => String => ShardGraph): Unit = if (!isChecked) {
    isChecked = true
    warnOfExpired(BatchPlanner.settle(session.opened(offset), graphs, _ => None).read)
  }

  /** Checks whether records of streams that are read again may have expired while they were parked. */
  def warnOfExpired(streams: Iterator[StreamOffset]): Unit =
    streams.foreach(stream =>
      Retention.lost(stream, expiryMillis(stream.arn)).headOption.foreach { case (shard, until) =>
        expired(stream.arn, shard, s"it was read up to ${Instant.ofEpochMilli(until)}")
      }
    )

  /**
   * Checks whether records of a batch that an earlier run planned may have expired since. Returns arrival times of the
   * first records that have not expired yet, where they are known.
   *
   * @param read
   *   the shards that the batch reads
   */
  def warnOfExpiredBatch(start: SourceOffset, end: SourceOffset, read: Set[StreamShard]): Map[StreamShard, Long] = {
    val begins = start.read.map(stream => stream.arn -> stream).toMap
    val expiry = end.read.map(stream => stream.arn -> expiryMillis(stream.arn)).toMap
    end.read.foreach { stream =>
      val shards = read.collect { case StreamShard(stream.arn, shard) => shard }
      // The times before the batch are of another stream if this one was recreated. Those of a parked stream were
      // checked when it returned, and the batch has the arrivals of all its first records.
      val before = begins.get(stream.arn).filter(_.creationMillis == stream.creationMillis)
      Retention.lostOfBatch(before, stream, shards, expiry(stream.arn)).foreach { case (shard, from) =>
        expired(
          stream.arn,
          shard,
          s"a repeated batch starts with records that arrived at ${Instant.ofEpochMilli(from)}"
        )
      }
    }
    val left = for {
      stream <- end.read
      (shard, from) <- stream.begun.iterator if from >= expiry(stream.arn)
    } yield StreamShard(stream.arn, shard) -> from
    left.filter(expiresSoon).toMap
  }

  /** A time before which the records of a stream have expired. */
  def oldestMillis(arn: String): Long = oldestMillis(arn, session.serviceClock.atLeast)

  /** A time before which the records of a stream had expired at an earlier time. */
  def oldestMillis(arn: String, atMillis: Long): Long = atMillis - TimeUnit.HOURS.toMillis(retentionHours(arn))

  /** A time before which the records of a stream may have expired. */
  def expiryMillis(arn: String): Long = session.serviceClock.atMost - TimeUnit.HOURS.toMillis(retentionHours(arn))

  /**
   * Returns whether a record with this arrival time may expire before a task reads it from the service, also if the
   * retention period is decreased meanwhile. Arrival times are approximate: a missing younger record is no sign that
   * it expired.
   */
  def expiresSoon(record: (StreamShard, Long)): Boolean =
    record._2 < safeMillis(session.serviceClock.latestPossible)

  /**
   * Reports records that expired before a running query read them. The retention period may have changed since the
   * query started, so it is read again before something is reported. If that fails, a query that goes on tries it again
   * later: its executors may reach the service. The checkpoint has what this run does not report any more.
   *
   * @param found
   *   shards that were read late since the last call
   * @param isLast
   *   whether the query ends, so that nothing can be reported later
   */
  def warnOfOvertaken(found: Seq[Overtaken], isLast: Boolean): Unit = {
    found.foreach(overtaken.add)
    var isJudged = false
    try {
      overtaken.all.map(_.shard.stream).distinct.filter(session.isOpen).foreach { arn =>
        val readMillis = if (isLast || isDue(arn)) read(arn, isLast) else None
        if (readMillis.nonEmpty || isFresh(arn)) judge(arn, readMillis)
      }
      isJudged = true
    } finally
      unjudged.note(if (isJudged) overtaken.all.filterNot(late => isFresh(late.shard.stream)) else overtaken.all)
  }

  /** Stores shards that were read late in the checkpoint, until `warnOfOvertaken` is called in this run or the next. */
  def keep(found: Seq[Overtaken]): Unit = {
    found.foreach(overtaken.add)
    unjudged.note(overtaken.all)
  }

  /**
   * Reports what expired by the present retention period. What has not expired is kept until that is read again. What
   * ends the query is kept for the next run, which reports all of it if it may lose data.
   *
   * @param readMillis
   *   a time that is not earlier than the service's time when the retention period was read, in epoch milliseconds;
   *   `None` if it was not read now
   */
  private def judge(arn: String, readMillis: Option[Long]): Unit = {
    val late = overtaken.all.filter(_.shard.stream == arn)
    // `behindMillis` is too large if this process's clock was set forward.
    val latestMillis = readMillis.getOrElse(session.serviceClock.atMost)
    val gone = late.filter(one =>
      math.min(one.behindMillis, latestMillis - one.untilMillis) > TimeUnit.HOURS.toMillis(retentionHours(arn))
    )
    if (readMillis.nonEmpty) late.filterNot(gone.contains).foreach(one => overtaken.remove(one.shard))
    gone.foreach { one =>
      expired(
        arn,
        one.shard.shard,
        s"it was read up to ${Instant.ofEpochMilli(one.untilMillis)} by a running query"
      )
      overtaken.remove(one.shard)
    }
  }

  private def isFresh(arn: String): Boolean = current.get(arn).exists { case (_, at) => isRecent(at) }
  private def isDue(arn: String): Boolean = !isFresh(arn) && !failed.exists(isRecent)
  private def isRecent(at: Moment): Boolean = at.millisUntil(session.serviceClock.now) < Period.toMillis

  /** Returns a time that is not earlier than the service's; `None` if the retention period could not be read. */
  private def read(arn: String, isLast: Boolean): Option[Long] =
    try {
      current += arn -> (session.retentionHours(arn) -> session.serviceClock.now)
      failed = None
      Some(session.serviceClock.latestPossible)
    } catch {
      // The records expired by the last known period, or with the stream.
      case gone: KinesisConnectorException if ServiceErrors.isStreamNotFound(gone) => Some(Long.MaxValue)
      case failure: KinesisConnectorException if !isLast =>
        failed = Some(session.serviceClock.now)
        session.events.emit(RetentionNotRead(arn, failure))
        None
    }

  private def retentionHours(arn: String): Long =
    current.get(arn).fold(session.streams(arn).retentionHours)(_._1).toLong

  /** Forgets what was read of a stream, because the session has described it again. */
  def forget(arn: String): Unit = current -= arn

  private def expired(arn: String, shard: ShardId, what: String): Unit =
    session.losses.report(
      Loss.Expired(StreamShard(arn, shard), session.streams(arn).name, what, retentionHours(arn))
    )
}

private[spark] object RetentionCheck {

  /** Minimum time between two requests for the retention period. */
  val Period: FiniteDuration = 1.minute

  /** Maximum time from planning a batch until its tasks have begun to read. */
  val LongestBatch: FiniteDuration = 6.hours

  /**
   * Returns the arrival time from which on records do not expire before a task reads them, also if the retention period
   * is decreased. All times are epoch milliseconds.
   */
  def safeMillis(nowMillis: Long): Long =
    nowMillis - KinesisQuotas.Lifetime.RetentionMin.toMillis + LongestBatch.toMillis
}
