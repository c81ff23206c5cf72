package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{BlockingWait, Waiting}
import org.sparkkinesis.model.{ChildShard, KinesisRecord, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * When the first records after positions arrived.
 *
 * @param arrivals
 *   arrival times in epoch milliseconds. A shard is left out if it has no record after its position.
 * @param unknown
 *   shards that were not read in time
 */
final case class FirstArrivals(arrivals: Map[StreamShard, Long], unknown: Seq[StreamShard])

/** Finds out when the first records after positions arrived. It reads one record of each shard, all at once. */
object FirstArrivals {

  /**
   * Blocks until the arrival times are known, at most for `limit`.
   *
   * @param untilMillis
   *   a shard without a record that arrived before this time, in epoch milliseconds, may be left out
   */
  def of(
      publishers: RecordPublisherFactory,
      positions: Seq[(StreamShard, StartingPosition)],
      untilMillis: Long,
      limit: FiniteDuration,
      waiting: Waiting = BlockingWait
  ): FirstArrivals = {
    val found = positions.map(_._1).zip(records(publishers, positions, untilMillis, limit, waiting))
    FirstArrivals(
      found.collect { case (shard, Some(Some(first))) => shard -> first.arrivalMillis }.toMap,
      found.collect { case (shard, None) => shard }
    )
  }

  /**
   * Returns the first record after each position, in the order of the positions: `Some(None)` if there is none, and
   * `None` if it was not found in time. Blocks as [[of]] does.
   */
  def records(
      publishers: RecordPublisherFactory,
      positions: Seq[(StreamShard, StartingPosition)],
      untilMillis: Long,
      limit: FiniteDuration,
      waiting: Waiting = BlockingWait
  ): Seq[Option[Option[KinesisRecord]]] = if (positions.isEmpty) Nil
  else {
    val looks = positions.map { case (shard, position) => new Look(publishers, shard, position, untilMillis) }
    try {
      waiting.until(CompletableFuture.allOf(looks.map(_.first): _*), limit)
      looks.map(look => Option.when(look.first.isDone)(look.first.getNow(None)))
    } finally looks.foreach(_.close())
  }

  final private class Look(
      publishers: RecordPublisherFactory,
      shard: StreamShard,
      position: StartingPosition,
      untilMillis: Long
  ) extends RecordSubscriber {
    val first = new CompletableFuture[Option[KinesisRecord]]
    private val publisher = publishers.subscribe(shard, position, this)
    askForOne()

    def close(): Unit = publisher.cancel()

    /** Requests at most one byte, for which the publisher delivers one record. */
    private def askForOne(): Unit = publisher.request(maxBytes = 1)

    override def onBatch(batch: RecordBatch): Unit = batch.records.headOption match {
      case None if batch.millisBehindLatest > 0 && batch.readUpToMillis < untilMillis => askForOne()
      case found => finish(found)
    }
    override def onShardEnd(children: Seq[ChildShard]): Unit = finish(None)

    /** The task that reads the shard fails with this error, unless it is gone by then. */
    override def onError(error: ServiceException): Unit = finish(None)

    private def finish(found: Option[KinesisRecord]): Unit = {
      first.complete(found)
      ()
    }
  }
}
