package org.sparkkinesis.spark.session

import java.time.Instant
import java.util.concurrent.TimeUnit

import org.sparkkinesis.config.PositionOption
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.event.{DataLost, StreamRecreated}
import org.sparkkinesis.model.StartingPosition
import org.sparkkinesis.plan.{Retention, SourceOffset, StreamOffset}
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.spark.connection.Environment

/**
 * Holds the offsets of a checkpoint against the streams as they are now: data that is lost is noticed, not passed over.
 *
 * With `failOnDataLoss` it ends the query, else an event tells it, and the query goes on with the oldest record that is left. For one query's thread.
 */
final class CheckpointCheck(session: StreamSession, environment: Environment) {
  private val losses = environment.losses(session.settings.failOnDataLoss)
  private var remade = Map.empty[String, StreamOffset]
  private var checkedRetention = false

  /**
   * The same offset, with the streams that were made anew since at their beginning.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_OTHER_STREAM, KINESIS_STREAM_RECREATED
   */
  def mend(offset: SourceOffset): SourceOffset = {
    if (offset.streams.keySet != session.streams.keySet)
      throw ReadErrors.checkpointOfOtherStream(
        checkpointStream = offset.streams.keys.mkString(", "),
        stream = session.streams.keys.mkString(", "),
        reason = "Positions in one stream mean nothing in another."
      )
    val changed =
      offset.streams.values.filter(stream => session.streams(stream.arn).creationMillis != stream.creationMillis)
    if (changed.isEmpty) offset
    else offset.copy(streams = offset.streams ++ changed.map(stream => stream.arn -> beginning(stream)))
  }

  /** Looks, once, whether records after the positions may have expired while the query was down. */
  def warnOfExpired(offset: SourceOffset): Unit = if (!checkedRetention) {
    checkedRetention = true
    offset.streams.values.foreach { stream =>
      val retention = TimeUnit.HOURS.toMillis(session.streams(stream.arn).retentionHours.toLong)
      Retention.lost(stream, environment.clock.currentMillis - retention).headOption.foreach { case (shard, until) =>
        val reason = s"it was read up to ${Instant.ofEpochMilli(until)}, and the stream keeps " +
          s"${session.streams(stream.arn).retentionHours} hours"
        session.events.emit(DataLost(stream.arn, shard, reason, losses.endsQuery))
        losses.lost(
          ReadErrors.dataLoss(
            shard = shard.value,
            stream = stream.name,
            reason = reason,
            cause = "The query was stopped, or behind, for longer than the stream keeps its records."
          )
        )
      }
    }
  }

  private def beginning(stream: StreamOffset): StreamOffset = remade.getOrElse(
    stream.arn, {
      val now: StreamDescription = session.streams(stream.arn)
      session.events.emit(
        StreamRecreated(stream.arn, stream.creationMillis, now.creationMillis, losses.endsQuery)
      )
      losses.lost(
        ReadErrors.streamRecreated(
          stream = stream.name,
          checkpointCreation = Instant.ofEpochMilli(stream.creationMillis).toString,
          creation = Instant.ofEpochMilli(now.creationMillis).toString
        )
      )
      val fresh =
        session.initialOffset(
          PositionOption(StartingPosition.TrimHorizon),
          environment.clock.currentMillis
        ).streams(stream.arn)
      remade += stream.arn -> fresh
      fresh
    }
  )

}
