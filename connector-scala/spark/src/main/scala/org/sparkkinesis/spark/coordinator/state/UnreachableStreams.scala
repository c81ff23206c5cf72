package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock

/**
 * Records the executors that cannot reach a stream which another executor may reach, and that therefore read nothing
 * of it for a while. Guarded by its owner's lock.
 *
 * An executor that does not read a stream cannot detect that it reaches the stream again, so each avoidance ends
 * after a pause. The pause doubles until the executor has received an answer, so that few shards move during an
 * outage of the whole service.
 */
final private[spark] class UnreachableStreams(clock: Clock) {
  import UnreachableStreams._

  private val avoidances = mutable.HashMap.empty[(String, String), Avoidance]

  /**
   * Avoids executors that cannot reach a stream, as long as another executor has not reported the same.
   *
   * @param reported
   *   the streams that each executor cannot reach, by executor id
   * @param reads
   *   whether an executor reads shards of a stream
   * @return
   *   the newly avoided executors with their streams
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
      val pause = (FirstPause * (1L << math.min(times, MaxDoublings))).min(LongestPause)
      avoidances(key) = Avoidance(clock.nanoTime + pause.toNanos, times + 1)
    }
    found
  }

  /** Returns the executors that should not read the stream now. */
  def avoided(stream: String): Set[String] =
    if (avoidances.isEmpty) Set.empty
    else avoidances.keysIterator.collect { case (executor, `stream`) if isAvoided(executor, stream) => executor }.toSet

  /** Records that the executor has received an answer. */
  def reached(executor: String, stream: String): Unit = avoidances -= executor -> stream

  /** Removes a lost executor. */
  def forget(executor: String): Unit = avoidances.filterInPlace { case ((id, _), _) => id != executor }

  private def isAvoided(executor: String, stream: String): Boolean =
    avoidances.get(executor -> stream).exists(_.untilNanos > clock.nanoTime)
}

private[spark] object UnreachableStreams {
  final private case class Avoidance(untilNanos: Long, times: Int)

  val FirstPause: FiniteDuration = 1.minute
  val LongestPause: FiniteDuration = 16.minutes
  private val MaxDoublings = 4
}
