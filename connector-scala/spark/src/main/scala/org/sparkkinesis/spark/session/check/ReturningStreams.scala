package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.plan.offset.{Retention, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.session.{CheckpointCheck, StreamSession}

/**
 * Checks parked streams that are read again, and streams that join. While a stream was parked, it may have been
 * recreated, its records and shards may have expired, and its retention period may have changed. For one query's
 * thread.
 *
 * @param wantedSince
 *   returns since when the query should have read a stream that was parked in an offset, in epoch milliseconds
 */
final class ReturningStreams(
    session: StreamSession,
    checkpoint: CheckpointCheck,
    retention: RetentionCheck,
    wantedSince: (SourceOffset, StreamOffset) => Option[Long]
) {
  import ReturningStreams._

  /**
   * Returns `now` with what the streams have become that were parked before, or that joined.
   *
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS, KINESIS_STREAM_RECREATED, or the error of a stream that cannot be described
   */
  def checked(before: SourceOffset, now: SourceOffset): SourceOffset = if (before eq now) now
  else {
    val returned =
      now.read.filter(stream => session.isOpen(stream.arn) && !isJoined(before, stream))
        .flatMap(stream => before.streams.get(stream.arn)).filter(_.isParked).toVector
    if (returned.isEmpty) joined(before, now)
    else {
      returned.foreach(refresh)
      val (drained, unread) = returned.partition(_.isParkedDrained)
      retention.warnOfExpired(unread.iterator.filterNot(isRecreated))
      val wasDrained = drained.iterator.filterNot(mayHaveMissed(before, _)).map(_.arn).toSet
      val mended = checkpoint.mend(now, wasDrained)
      val read = drained.map(stream => stream.arn -> timed(before, stream, mended.streams(stream.arn)))
      checkpoint.link(mended.copy(streams = mended.streams ++ read))
    }
  }

  /** Whether a stream that was drained may have got records after the query should read it again. */
  private def mayHaveMissed(before: SourceOffset, parked: StreamOffset): Boolean =
    wantedSince(before, parked).exists(since =>
      parked.isParkedBefore(since) && since + ClockMargin.toMillis < session.streams(parked.arn).creationMillis
    )

  /**
   * Returns the position of a stream that was drained. A record is lost only if it expired after the query should read
   * the stream again.
   */
  private def timed(before: SourceOffset, parked: StreamOffset, now: StreamOffset): StreamOffset = {
    val nowMillis = session.serviceClock.atLeast
    val wantedMillis = wantedSince(before, parked).fold(nowMillis)(math.min(_, nowMillis))
    now.noEarlierThan(retention.oldestMillis(now.arn, wantedMillis) + Retention.FirstFetch.toMillis)
  }

  /**
   * A stream may have joined in an earlier run, and its shards may have expired before this one takes it in. One that
   * joins in this run was listed when it joined.
   */
  private def joined(before: SourceOffset, now: SourceOffset): SourceOffset = {
    val unseen = now.read.filter(stream =>
      isJoined(before, stream) && session.isOpen(stream.arn) && session.shards.seen(stream.arn).isEmpty
    ).toVector
    if (unseen.isEmpty) now
    else now.copy(streams = now.streams ++ unseen.map(stream => stream.arn -> ifFound(stream)(checkpoint.link(stream))))
  }

  /** Whether a stream is new, or was dropped and has joined again at another position. */
  private def isJoined(before: SourceOffset, stream: StreamOffset): Boolean =
    before.streams.get(stream.arn).forall(known => known.isParked && known.shards != stream.shards)

  private def refresh(stream: StreamOffset): Unit = ifFound(()) {
    checkpoint.refresh(stream.arn)
    retention.forget(stream.arn)
  }

  /** Runs `body`. If a stream does not exist, its consumers notice that as well; other streams are still read. */
  private def ifFound[A](otherwise: A)(body: => A): A =
    try body
    catch { case gone: KinesisConnectorException if ServiceErrors.isStreamNotFound(gone) => otherwise }

  private def isRecreated(stream: StreamOffset): Boolean =
    session.streams(stream.arn).creationMillis != stream.creationMillis
}

private object ReturningStreams {

  /** Tolerance for the time of a metadata entry, which is a lower limit of the service's time. */
  val ClockMargin: FiniteDuration = 10.seconds
}
