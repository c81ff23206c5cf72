package org.sparkkinesis.spark.session.member

import org.sparkkinesis.plan.member.{Membership, MetadataEntry}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.session.checkpoint.MetadataLog

/**
 * The times since when streams that are parked should be read again, as the metadata log shows them. A stream that was
 * read to its end may have lost records only after such a time. Create it before this run writes to the log.
 *
 * @param versionOf
 *   returns the version of an offset
 */
final private[member] class WantedTimes(log: MetadataLog, versionOf: SourceOffset => Long) {
  private val lastOfEarlierRun = log.newest.fold(0L)(_.number)

  /**
   * Returns since when a stream that was parked in an offset should be read again, in epoch milliseconds; empty if the
   * log does not show that. A stream that was parked although it should be read has been wanted since then.
   */
  def since(before: SourceOffset, parked: StreamOffset): Option[Long] = since(before, parked, log.entries)

  /** Whether a stream has lost no records if it does not exist any more: no earlier run should have read it again. */
  def isDrained(before: SourceOffset, stream: StreamOffset): Boolean = stream.isParkedDrained &&
    !since(before, stream, log.entries.filter(_.number <= lastOfEarlierRun)).exists(stream.isParkedBefore)

  private def since(before: SourceOffset, parked: StreamOffset, entries: Seq[MetadataEntry]): Option[Long] =
    Membership.wantedSince(before.copy(version = versionOf(before)), parked, entries)
}
