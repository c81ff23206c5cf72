package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.plan.offset.{LostLineage, SourceOffset, StreamOffset}
import org.sparkkinesis.service.StreamDescription
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.session.{CheckpointCheck, StreamSession}

/**
 * Finds streams that were deleted and created again while the query was running. Shards that the service does not have
 * any more look the same then as shards that have expired, and the new stream may have other shards of the same names.
 * For one query's thread.
 */
final class RecreatedStreams(
    session: StreamSession,
    checkpoint: CheckpointCheck,
    retention: RetentionCheck,
    environment: Environment
) {
  import RecreatedStreams._
  import environment.clock

  /** When a stream could not be described, in nanoseconds of this process's clock. */
  private var failedNanos = Map.empty[String, Long]

  /** The number of streams that were found to be recreated so far. */
  def count: Int = found
  private var found = 0

  /**
   * Returns `now` with what is left of lineages that were lost while the query was running, and reports them; `None` if
   * one of the streams was recreated, so that the offset of the checkpoint has to be mended again. A lineage stays as
   * it is while its stream is unknown.
   *
   * @param offset
   *   the offset of the checkpoint, of which `now` is the position as the streams are now
   */
  def relinked(
      offset: => SourceOffset,
      now: SourceOffset,
      lost: Seq[(StreamOffset, LostLineage)]
  ): Option[SourceOffset] = {
    // The listings that show the loss came before this.
    val found = check(lost.iterator.map(_._1.arn).toSet)
    val certain = lost.filterNot { case (stream, _) => found.unknown(stream.arn) }
    if (found.recreated.nonEmpty) None
    else Some(if (certain.isEmpty) now else checkpoint.relink(offset, now, certain))
  }

  /**
   * Describes streams of which shards are missing or differ, and replaces the descriptions of those that were
   * recreated: the offset of the checkpoint has to be mended again then.
   *
   * A listing that began before this call is of the stream that the query knows, unless the stream is found to be
   * recreated. A stream that cannot be described is unknown, and is not described again for ten seconds; the listings
   * and the consumers notice whether it does not exist any more.
   *
   * @param isUrgent
   *   whether a stream is described also within that time
   * @throws KinesisConnectorException
   *   KINESIS_ACCESS_DENIED
   */
  def check(arns: Set[String], isUrgent: Boolean = false): Found = {
    val answers = arns.filter(session.isOpen).iterator.map(arn => arn -> probe(arn, isUrgent)).toMap
    val recreated = answers.collect {
      case (arn, Is(now)) if now.creationMillis != session.streams(arn).creationMillis => arn -> now
    }
    recreated.foreach { case (arn, now) =>
      checkpoint.refresh(arn, now)
      retention.forget(arn)
    }
    found += recreated.size
    val missing = answers.collect { case (arn, IsMissing) => arn }.toSet
    Found(recreated.keySet, answers.collect { case (arn, IsUnknown) => arn }.toSet ++ missing, missing)
  }

  /** Returns those of these streams that were recreated. Waits until every stream is described or does not exist. */
  def recreated(arns: Set[String]): Set[String] = recreated(arns, Set.empty)

  @scala.annotation.tailrec
  private def recreated(arns: Set[String], before: Set[String]): Set[String] = {
    val found = check(arns, isUrgent = true)
    val (all, left) = (before ++ found.recreated, found.unknown -- found.missing)
    if (left.isEmpty) all
    else {
      environment.waiting.sleep(RetryPause)
      recreated(left, all)
    }
  }

  /** Describes a stream, which may be missing or about to be created or deleted. */
  private def probe(arn: String, isUrgent: Boolean): Answer =
    if (!isUrgent && failedNanos.get(arn).exists(clock.nanoTime - _ < Pause.toNanos)) IsUnknown
    else {
      val answer =
        try {
          val now = session.probe(arn)
          if (now.status.isUsable) Is(now) else IsUnknown
        } catch {
          case error: KinesisConnectorException if ServiceErrors.isStreamNotFound(error) => IsMissing
          // The calls that failed are in the log.
          case error: KinesisConnectorException if !ServiceErrors.isAccessDenied(error) => IsUnknown
        }
      answer match {
        case _: Is => failedNanos -= arn
        case _ => failedNanos += arn -> clock.nanoTime
      }
      answer
    }
}

object RecreatedStreams {
  private val Pause = 10.seconds

  /** Time between two attempts to describe a stream for which the query waits. */
  private val RetryPause = 1.second

  /**
   * @param recreated
   *   streams that were deleted and created again; the session and the checkpoint know the new ones from now on
   * @param unknown
   *   streams that could not be described
   * @param missing
   *   those of them that do not exist
   */
  final case class Found(recreated: Set[String], unknown: Set[String], missing: Set[String] = Set.empty)

  /** What the service answers about a stream. */
  sealed private trait Answer
  final private case class Is(stream: StreamDescription) extends Answer
  private case object IsMissing extends Answer
  private case object IsUnknown extends Answer
}
