package org.sparkkinesis.simulation.read

import scala.collection.mutable

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.simulation.common.Violation

/**
 * Checks what the driver of one run holds about fetched records.
 *
 * Of each shard it may hold as many summaries as [[SummaryBounds]] says, with [[DriverMemory.Apart]] places at which
 * summaries are not joined. Of a shard that was read to its end, and whose descendants are in the offset, and of a
 * stream that is parked, it holds nothing after a while.
 *
 * @param leftMillis
 *   time for which the driver may hold shards that are not read any more
 * @param ancestors
 *   returns the shards from which a shard of a stream descends
 * @param isParked
 *   whether a stream is parked, if the checkpoint has something newer about it than the end of the last batch
 */
final class DriverMemory(
    now: () => Long,
    bounds: SummaryBounds,
    leftMillis: Long,
    ancestors: (String, String) => Set[String],
    isParked: String => Option[Boolean] = _ => None
) {
  import DriverMemory._

  /** The shards that are not read any more and are held, and since when. */
  private val left = mutable.HashMap.empty[StreamShard, Long]

  /**
   * @param offset
   *   the end of the last batch
   * @param held
   *   the summaries of each shard
   */
  def check(offset: SourceOffset, held: Map[StreamShard, Seq[ChunkSummary]]): Unit = {
    held.foreach { case (shard, summaries) =>
      val most = mostSummaries(bounds, summaries)
      if (summaries.size > most)
        throw new Violation("memory", s"the driver holds ${summaries.size} summaries of $shard, of $most that may be")
    }
    val over = finished(offset)
    left.filterInPlace((shard, _) => held.contains(shard) && over(shard))
    held.keysIterator.filter(over).foreach { shard =>
      val since = left.getOrElseUpdate(shard, now())
      if (now() - since > leftMillis)
        throw new Violation("memory", s"the driver holds $shard, which is not read any more since $since")
    }
  }

  private def finished(offset: SourceOffset): StreamShard => Boolean = {
    val over = offset.streams.map { case (arn, stream) =>
      arn -> stream.shards.keysIterator.flatMap(shard => ancestors(arn, shard.value)).toSet
    }
    shard =>
      offset.streams.get(shard.stream).exists(stream =>
        isParked(stream.arn).getOrElse(stream.isParked) ||
          (over(shard.stream)(shard.shard.value) && !stream.shards.contains(shard.shard))
      )
  }
}

object DriverMemory {

  /**
   * Number of places at which summaries may stay apart: the ends of the batches that are not released, the last record
   * that was dropped ahead, and chunks of a planned batch that a new owner fetches again.
   */
  val Apart = 50

  /** Returns how many summaries these may be: two that follow each other exceed one of the limits together. */
  def mostSummaries(bounds: SummaryBounds, summaries: Seq[ChunkSummary]): Long = {
    val rows = summaries.iterator.map(_.rows.toLong).sum
    val bytes = summaries.iterator.map(_.bytes).sum
    val millis = if (summaries.isEmpty) 0L
    else summaries.iterator.map(_.newestArrivalMillis).max - summaries.iterator.map(_.firstArrivalMillis).min
    1 + Apart + 2 * (rows / bounds.maxRows + bytes / bounds.maxBytes + millis / bounds.maxMillis)
  }
}
