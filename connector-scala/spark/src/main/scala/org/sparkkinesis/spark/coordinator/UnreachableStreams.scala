package org.sparkkinesis.spark.coordinator

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock

/**
 * Records the executors that cannot reach a stream which another executor may reach. Such an executor is avoided: it
 * gets no shards of that stream for some time. Guarded by the coordinator's lock.
 *
 * An executor without shards of a stream cannot notice that it reaches the stream again, so each pause ends by itself.
 * Each pause is twice as long as the previous one until the executor receives an answer. So shards rarely move while
 * the whole service is down.
 */
final private[coordinator] class UnreachableStreams(clock: Clock) {
  import UnreachableStreams._

  private val avoidances = mutable.HashMap.empty[(String, String), Avoidance]

  /**
   * Avoids executors that cannot reach a stream if another executor has not reported the same.
   *
   * @param reported
   *   the streams that each executor cannot reach, by executor id
   * @param reads
   *   whether an executor reads shards of a stream
   * @return
   *   pairs of executor and stream that are avoided from now on
   */
  def avoid(reported: Map[String, Set[String]], reads: ((String, String)) => Boolean): Seq[(String, String)] = {
    def mayReach(executor: String, stream: String) = !reported(executor)(stream) && !isAvoided(executor, stream)
    val found = for {
      (executor, streams) <- reported.toVector.sortBy(_._1)
      stream <- streams.toVector.sorted
      if reads((executor, stream)) && !isAvoided(executor, stream)
      if reported.keysIterator.exists(other => other != executor && mayReach(other, stream))
    } yield executor -> stream
    found.foreach { key =>
      val times = avoidances.get(key).fold(0)(_.times)
      val pause = (FirstPause * (1L << math.min(times, MostDoublings))).min(LongestPause)
      avoidances(key) = Avoidance(clock.nanoTime + pause.toNanos, times + 1)
    }
    found
  }

  /** Returns the executors that get no shards of the stream now. */
  def avoided(stream: String): Set[String] =
    if (avoidances.isEmpty) Set.empty
    else avoidances.keysIterator.collect { case (executor, `stream`) if isAvoided(executor, stream) => executor }.toSet

  /** Ends the pause of an executor that has received an answer for the stream. */
  def reached(executor: String, stream: String): Unit = avoidances -= executor -> stream

  def forget(executor: String): Unit = avoidances.filterInPlace { case ((id, _), _) => id != executor }

  private def isAvoided(executor: String, stream: String): Boolean =
    avoidances.get(executor -> stream).exists(_.untilNanos > clock.nanoTime)
}

private[coordinator] object UnreachableStreams {
  final private case class Avoidance(untilNanos: Long, times: Int)

  val FirstPause: FiniteDuration = 1.minute
  val LongestPause: FiniteDuration = 16.minutes
  private val MostDoublings = 4
}
