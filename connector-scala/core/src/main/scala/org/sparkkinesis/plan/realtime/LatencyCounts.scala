package org.sparkkinesis.plan.realtime

/**
 * Counts times by ranges that grow by about a fifth, so that percentiles are exact to about 20 %. Immutable.
 *
 * @param counts
 *   number of times in each range
 */
final case class LatencyCounts(counts: Vector[Long], maxMillis: Long) {

  def +(that: LatencyCounts): LatencyCounts = LatencyCounts(
    counts.zipAll(that.counts, 0L, 0L).map { case (a, b) => a + b },
    math.max(maxMillis, that.maxMillis)
  )

  /** Returns the upper end of the range in which this share of the times ends; `None` without a time. */
  def percentile(share: Double): Option[Long] = {
    val total = counts.sum
    Option.when(total > 0) {
      val wanted = math.max(1, math.ceil(total * share).toLong)
      val range = counts.scanLeft(0L)(_ + _).indexWhere(_ >= wanted) - 1
      math.min(LatencyCounts.upperMillis(range), maxMillis)
    }
  }
}

object LatencyCounts {
  val Empty: LatencyCounts = LatencyCounts(Vector.empty, 0)

  /** The upper ends of the ranges in milliseconds: 1, 2, 3, …, and beyond 5 each a fifth above the one before. */
  private val bounds: Array[Long] = Iterator.iterate(1L)(last => last + math.max(1L, last / 5)).take(120).toArray

  private def upperMillis(range: Int): Long = bounds(math.min(range, bounds.length - 1))

  /** Collects times. Not thread-safe. */
  final class Builder {
    private val counts = new Array[Long](bounds.length)
    private var max = 0L

    /** @param weight number of records with this time */
    def add(millis: Long, weight: Long): Unit = {
      val found = java.util.Arrays.binarySearch(bounds, math.max(1, millis))
      counts(math.min(if (found < 0) -found - 1 else found, counts.length - 1)) += weight
      max = math.max(max, millis)
    }

    def result(): LatencyCounts = {
      val used = counts.lastIndexWhere(_ > 0) + 1
      LatencyCounts(counts.take(used).toVector, max)
    }
  }
}
