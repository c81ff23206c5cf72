package org.sparkkinesis.spark.session.member

import java.util.regex.Pattern

import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.plan.member.{MembershipHistory, MetadataEntry, StreamWish}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.MetadataLog

/**
 * The version of the metadata that an offset without a version has: it is of a query that listed its streams, or of one
 * whose pattern matches the same streams as at its start. For the query's thread.
 *
 * @param pattern
 *   the value of `streamPattern`
 * @param known
 *   returns how a stream is reached
 */
final private[member] class FirstVersion(
    session: StreamSession,
    log: MetadataLog,
    history: MembershipHistory,
    pattern: Option[Pattern],
    known: String => Option[PhysicalStream]
) {
  private var number = 0L

  /** Returns the version of an offset. */
  def of(offset: SourceOffset): Long = math.max(offset.version, number)

  /** Records the version of the query's first offset. */
  def note(first: SourceOffset): Unit = number = first.version

  /**
   * Checks that the first entry of the log has every stream of a checkpoint that was written without a metadata
   * service. They are read on from their positions.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_OTHER_STREAM
   */
  def adopt(offset: SourceOffset): Unit = for {
    first <- log.entries.headOption
    other <- offset.streams.keysIterator.find(!first.wishes.contains(_))
  } throw ReadErrors.checkpointOfOtherStream(
    checkpointStream = other,
    stream = first.wishes.keys.mkString(", "),
    reason = "The metadata document does not name the stream of the checkpoint, so its records would be lost."
  )

  /**
   * Writes the streams of a checkpoint to the log, unless the log has them already: the checkpoint is of a query that
   * listed its streams, or had another pattern. A stream that does not match the pattern leaves.
   *
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_OTHER_STREAM
   */
  def restate(start: SourceOffset): Unit = {
    val (kept, left) = start.streams.valuesIterator.toSeq.partition(one => pattern.exists(_.matcher(one.name).matches))
    if (kept.isEmpty) throw ReadErrors.checkpointOfOtherStream(
      checkpointStream = start.streams.keys.mkString(", "),
      stream = pattern.fold("")(_.pattern),
      reason = "No stream of the checkpoint matches the pattern. Positions in one stream mean nothing in another."
    )
    val same = entryOf(start)
    same.foreach(entry => number = entry.number)
    if (left.nonEmpty || (start.version == 0 && same.isEmpty)) write(kept, hasLeft = left.nonEmpty)
  }

  /** Returns the entry of the log that has the streams of a checkpoint. */
  private def entryOf(start: SourceOffset): Option[MetadataEntry] = {
    def hasSame(entry: MetadataEntry) = entry.wishes.keySet == start.streams.keySet
    // Entries that follow the first one may have streams that join at the next batch.
    log.entries.headOption.filter(first => first.number == 1 && hasSame(first)).orElse(
      log.newest.filter(last => hasSame(last) && last.wishes.values.forall(_ == StreamWish.Read))
    )
  }

  private def write(kept: Seq[StreamOffset], hasLeft: Boolean): Unit = {
    val entry = history.restated(kept.map(_.arn).flatMap(known(_)), StreamMembers.Listed, session.serviceClock.atLeast)
    log.append(entry)
    history.note(entry)
    number = if (hasLeft) entry.number - 1 else entry.number
  }
}
