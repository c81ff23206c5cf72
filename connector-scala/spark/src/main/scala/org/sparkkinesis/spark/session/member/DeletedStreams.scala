package org.sparkkinesis.spark.session.member

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.event.Loss
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.session.StreamSession

/** Reports streams that were deleted before a query had read them, as the option `failOnDataLoss` says. Thread-safe. */
final private[member] class DeletedStreams(session: StreamSession) {
  import DeletedStreams._

  /**
   * @param cause
   *   why its records were not read, for the message
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS
   */
  def lost(stream: StreamOffset, cause: String, gone: Throwable): Unit = {
    val shard = stream.shards.keys.headOption.getOrElse(ShardId(""))
    session.losses.report(Loss.StreamDeleted(StreamShard(stream.arn, shard), stream.name, cause, gone))
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
  private val Repeated = "The last batch of the earlier run must be read again, and it has records of this stream."
}
