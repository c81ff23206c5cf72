package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
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
   */
  def check(arns: Set[String]): Found = {
    val (unknown, described) = arns.filter(session.isOpen).partitionMap(arn => probe(arn).map(arn -> _).toRight(arn))
    val recreated = described.filter { case (arn, now) => now.creationMillis != session.streams(arn).creationMillis }
    recreated.foreach { case (arn, now) =>
      checkpoint.refresh(arn, now)
      retention.forget(arn)
    }
    Found(recreated.map(_._1), unknown)
  }

  /** Returns the stream as it is now, unless it does not exist or is about to be created. */
  private def probe(arn: String): Option[StreamDescription] =
    if (failedNanos.get(arn).exists(clock.nanoTime - _ < Pause.toNanos)) None
    else {
      val now =
        try Some(session.probe(arn)).filter(_.status.isUsable)
        // The calls that failed are in the log.
        catch { case _: KinesisConnectorException => None }
      if (now.isEmpty) failedNanos += arn -> clock.nanoTime else failedNanos -= arn
      now
    }
}

object RecreatedStreams {
  private val Pause = 10.seconds

  /**
   * @param recreated
   *   streams that were deleted and created again; the session and the checkpoint know the new ones from now on
   * @param unknown
   *   streams that could not be described
   */
  final case class Found(recreated: Set[String], unknown: Set[String])
}
