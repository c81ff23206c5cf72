package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.session.{CheckpointCheck, StreamSession}

/**
 * Checks parked streams that are read again, and streams that join. While a stream was parked, it may have been
 * recreated, its records and shards may have expired, and its retention period may have changed. For one query's
 * thread.
 */
final class ReturningStreams(session: StreamSession, checkpoint: CheckpointCheck, retention: RetentionCheck) {
  import ReturningStreams._

  /**
   * Returns `now` with what the streams have become that were parked before, or that joined.
   *
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS, KINESIS_STREAM_RECREATED, or the error of a stream that cannot be described
   */
  def checked(before: SourceOffset, now: SourceOffset): SourceOffset = {
    val returned =
      now.read.filter(stream => session.isOpen(stream.arn)).flatMap(stream => before.streams.get(stream.arn))
        .filter(_.isParked).toVector
    if (returned.isEmpty) {
      // A stream may have joined in an earlier run, and its shards may have expired before this one takes it in.
      val hasJoined = now.read.exists(stream => session.isOpen(stream.arn) && !before.streams.contains(stream.arn))
      if (hasJoined) checkpoint.link(now) else now
    } else {
      returned.foreach(refresh)
      val (drained, unread) = returned.partition(isDrained)
      retention.warnOfExpired(unread.iterator.filterNot(isRecreated))
      val timed = drained.filterNot(isRecreated).map(stream =>
        stream.arn -> now.streams(stream.arn).noEarlierThan(retention.oldestMillis(stream.arn) + FirstFetch.toMillis)
      )
      val wasDrained = drained.iterator.map(_.arn).toSet
      checkpoint.link(checkpoint.mend(now.copy(streams = now.streams ++ timed), wasDrained))
    }
  }

  private def refresh(stream: StreamOffset): Unit =
    try {
      checkpoint.refresh(stream.arn)
      retention.forget(stream.arn)
    } catch {
      // Its consumers notice that too. The query goes on if it reads other streams.
      case gone: KinesisConnectorException if ServiceErrors.isStreamNotFound(gone) => ()
    }

  private def isRecreated(stream: StreamOffset): Boolean =
    session.streams(stream.arn).creationMillis != stream.creationMillis

  private def isDrained(stream: StreamOffset): Boolean = stream.phase match {
    case StreamPhase.Parked(_, isDrained) => isDrained
    case _ => false
  }
}

private object ReturningStreams {

  /** Time until the first fetch of a stream that had no more records when it was parked. */
  val FirstFetch: FiniteDuration = 1.hour
}
