package org.sparkkinesis.plan

import org.sparkkinesis.model.{SequenceNumber, StreamShard}
import org.sparkkinesis.plan.offset.SourceOffset

/**
 * The end of a planned micro-batch.
 *
 * @param rows
 *   number of rows in the range, as counted by the consumers
 * @param bytes
 *   payload and key bytes of the range
 * @param firstArrivals
 *   arrival times of the first records in the range, in epoch milliseconds, for shards of which they are known
 * @param largeRows
 *   number of rows in the ranges of shards whose rows are large
 * @param finished
 *   the last records that the batch takes of shards that are finished at `end`; `None` for a shard of which it takes
 *   none
 */
final case class PlannedBatch(
    end: SourceOffset,
    rows: Long,
    bytes: Long,
    firstArrivals: Map[StreamShard, Long] = Map.empty,
    largeRows: Map[StreamShard, Long] = Map.empty,
    finished: Map[StreamShard, Option[SequenceNumber]] = Map.empty
) {

  /**
   * Returns the batch with all known first arrivals in its end for the streams that are parked in the logged start: the
   * times of their positions there say nothing about the records with which they return.
   */
  def withArrivals(loggedStart: SourceOffset): PlannedBatch = {
    val returned = end.read.filter(stream => loggedStart.streams.get(stream.arn).exists(_.isParked)).map { stream =>
      val found = firstArrivals.collect { case (StreamShard(stream.arn, shard), millis) => shard -> millis }
      stream.arn -> stream.copy(begun = stream.begun ++ found)
    }.toMap
    if (returned.isEmpty) this else copy(end = end.copy(streams = end.streams ++ returned))
  }
}
