package org.sparkkinesis.simulation.write.task

import scala.collection.mutable

/**
 * The times in which the sink cannot find out in which shards a stream's records are: its listings fail or are wrong,
 * or the stream is being replaced. It then sends the records of aggregates again.
 */
final class PlacementDoubts {
  private val times = mutable.ArrayBuffer.empty[(Long, Long)]

  def add(fromMillis: Long, untilMillis: Long): Unit = times += fromMillis -> untilMillis

  /** Whether there was a doubt at some moment of this time. */
  def in(fromMillis: Long, untilMillis: Long): Boolean =
    times.exists { case (from, until) => from <= untilMillis && until >= fromMillis }
}
