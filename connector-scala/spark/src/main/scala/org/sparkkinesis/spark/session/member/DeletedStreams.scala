package org.sparkkinesis.spark.session.member

import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors, ServiceErrors}
import org.sparkkinesis.event.DataLost
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.StreamSession

/** Reports streams that were deleted before a query had read them, as the option `failOnDataLoss` says. Thread-safe. */
final private[member] class DeletedStreams(session: StreamSession, environment: Environment) {
  import DeletedStreams._

  private val losses = environment.losses(session.settings.failOnDataLoss)

  /**
   * @param cause
   *   why its records were not read, for the message
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def lost(stream: StreamOffset, cause: String, gone: Throwable): Unit = {
    val shard = stream.shards.keys.headOption.getOrElse(ShardId(""))
    session.events.emit(DataLost(stream.arn, shard, Reason, losses.endsQuery))
    losses.lost(
      ReadErrors.dataLoss(shard = shard.value, stream = stream.name, reason = Reason, cause = cause).causedBy(gone)
    )
  }

  /**
   * Opens the streams that a batch of an earlier run reads and that this run does not read. One that was deleted
   * meanwhile is lost data.
   */
  def openForBatch(start: SourceOffset, end: SourceOffset, open: String => Unit): Unit = end.read.filter { stream =>
    !session.isOpen(stream.arn) && !start.streams.get(stream.arn).exists(_.shards == stream.shards)
  }.foreach { stream =>
    try open(stream.arn)
    catch {
      case gone: KinesisConnectorException if ServiceErrors.isStreamNotFound(gone) => lost(stream, Repeated, gone)
    }
  }
}

private object DeletedStreams {
  private val Reason = "the stream was deleted before it was read to its end"
  private val Repeated = "The last batch of the earlier run must be read again, and it has records of this stream."
}
