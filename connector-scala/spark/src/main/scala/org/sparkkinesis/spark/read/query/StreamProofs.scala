package org.sparkkinesis.spark.read.query

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.spark.session.check.RecreatedStreams

/**
 * Proves that streams were not recreated before the first records of their shards were reported. It describes few
 * streams at a time, because each call blocks the query. For one query's thread.
 *
 * @param describe
 *   checks the stream with this ARN
 */
final private[query] class StreamProofs(describe: String => RecreatedStreams.Found, clock: Clock) {
  import StreamProofs._

  /** When each stream was last described, in nanoseconds of this process's clock. */
  private var described = Map.empty[String, Long]
  private var nextNanos = Option.empty[Long]

  /**
   * Describes some of the streams that need it, if the pause is over. A stream of which a shard has no answer yet waits
   * for the length of a pause, so that one description proves all its shards.
   *
   * @param unproven
   *   the streams, and for each with a shard without an answer when it has needed a description for the first time, in
   *   nanoseconds of this process's clock
   * @param prove
   *   receives streams that were not recreated, a time before they were described in nanoseconds, and those of them
   *   that do not exist
   * @param isLast
   *   whether the query ends without them, so that they are described also within a pause
   */
  def check(
      unproven: Map[String, Option[Long]],
      prove: (Set[String], Long, Set[String]) => Unit,
      isLast: Boolean = false
  ): Unit = {
    val began = clock.nanoTime
    val due = unproven.iterator.collect {
      case (stream, since) if since.forall(began - _ >= Pause.toNanos) => stream
    }.toList
    if (due.nonEmpty && (isLast || nextNanos.forall(began - _ >= 0))) {
      val (proven, missing, hasFailed) =
        look(due.sortBy(described.getOrElse(_, Long.MinValue)).take(AtOnce), Set.empty, Set.empty)
      nextNanos = Some(clock.nanoTime + (if (hasFailed) FailurePause else Pause).toNanos)
      prove(proven, began, missing)
    }
  }

  /**
   * Describes streams until one was recreated or a call has failed, because other calls would fail as well. Returns the
   * streams that were not recreated, those of them that do not exist, and whether a call has failed.
   */
  @tailrec
  private def look(
      streams: List[String],
      proven: Set[String],
      missing: Set[String]
  ): (Set[String], Set[String], Boolean) = streams match {
    case Nil => (proven, missing, false)
    case stream :: others =>
      val found = describe(stream)
      described += stream -> clock.nanoTime
      // Nothing replaces a stream that does not exist.
      val hasFailed = (found.unknown -- found.missing).nonEmpty
      if (hasFailed || found.recreated.nonEmpty) (proven, missing, hasFailed)
      else look(others, proven + stream, missing ++ found.missing)
  }
}

private[query] object StreamProofs {

  /** The number of streams in one pass. */
  val AtOnce = 4

  /**
   * Minimum time between two passes, because the shards of a query that starts report their first records one after the
   * other. An account may make 20 DescribeStreamSummary calls per second.
   */
  val Pause: FiniteDuration = 250.milliseconds

  /** Minimum time to the next pass after a call that failed, which may have blocked the query for seconds. */
  val FailurePause: FiniteDuration = 5.seconds
}
