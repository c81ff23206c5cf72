package org.sparkkinesis.consume

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{BlockingWait, Waiting}
import org.sparkkinesis.model.{ChildShard, StartingPosition, StreamShard}
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
  ): FirstArrivals = if (positions.isEmpty) FirstArrivals(Map.empty, Nil)
  else {
    val looks = positions.map { case (shard, position) => shard -> new Look(publishers, shard, position, untilMillis) }
    try {
      waiting.until(CompletableFuture.allOf(looks.map(_._2.arrival): _*), limit)
      val (known, unknown) = looks.partition(_._2.arrival.isDone)
      val arrivals = known.flatMap { case (shard, look) => look.arrival.getNow(None).map(shard -> _) }
      FirstArrivals(arrivals.toMap, unknown.map(_._1))
    } finally looks.foreach(_._2.close())
  }

  final private class Look(
      publishers: RecordPublisherFactory,
      shard: StreamShard,
      position: StartingPosition,
      untilMillis: Long
  ) extends RecordSubscriber {
    val arrival = new CompletableFuture[Option[Long]]
    private val publisher = publishers.subscribe(shard, position, this)
    askForOne()

    def close(): Unit = publisher.cancel()

    /** Requests at most one byte, for which the publisher delivers one record. */
    private def askForOne(): Unit = publisher.request(maxBytes = 1)

    override def onBatch(batch: RecordBatch): Unit = batch.records.headOption match {
      case Some(first) => finish(Some(first.arrivalMillis))
      case None =>
        if (batch.millisBehindLatest == 0 || batch.readUpToMillis >= untilMillis) finish(None) else askForOne()
    }
    override def onShardEnd(children: Seq[ChildShard]): Unit = finish(None)

    /** The task that reads the shard fails with this error, unless it is gone by then. */
    override def onError(error: ServiceException): Unit = finish(None)

    private def finish(found: Option[Long]): Unit = {
      arrival.complete(found)
      ()
    }
  }
}
