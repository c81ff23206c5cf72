package org.sparkkinesis.spark.session.member

import org.sparkkinesis.plan.offset.{SourceOffset, StreamPhase}
import org.sparkkinesis.spark.metadata.MetadataStatus

/**
 * Changes of the streams in this run of a query, without the streams of its start.
 *
 * @param added
 *   number of times that a stream joined or returned
 * @param removed
 *   number of times that a stream began to be drained, or was parked without that
 * @param reconcileNanos
 *   time in nanoseconds in which the query's thread took in the last change
 */
final private[member] case class MemberChanges(
    added: Long = 0,
    removed: Long = 0,
    reconcileNanos: Option[Long] = None
) {

  /** Counts the changes between two offsets, which took this time. */
  def and(before: SourceOffset, after: SourceOffset, nanos: Long): MemberChanges = {
    def active(offset: SourceOffset) =
      offset.streams.valuesIterator.filter(_.phase == StreamPhase.Active).map(_.arn).toSet
    val (was, is) = (active(before), active(after))
    MemberChanges(added + (is -- was).size, removed + (was -- is).size, Some(nanos))
  }
}

/** Builds the metrics of a query whose streams come and go. */
private[member] object MemberMetrics {

  /**
   * @param now
   *   the streams as they are read now
   * @param pending
   *   number of streams that the service names and that could not be opened yet
   * @param nowMillis
   *   the time by the service's clock
   * @param graceMillis
   *   time for which a removed stream is drained at least
   */
  def of(
      status: MetadataStatus,
      now: Option[SourceOffset],
      pending: Int,
      changes: MemberChanges,
      nowMillis: Long,
      graceMillis: Long
  ): Map[String, String] = {
    val phases = now.toSeq.flatMap(_.streams.values.map(_.phase))
    val remaining = phases.collect { case StreamPhase.Draining(since) => math.max(0, since + graceMillis - nowMillis) }
    def count(matches: StreamPhase => Boolean): String = phases.count(matches).toString
    Map(
      "metadataFetches" -> status.fetches.toString,
      "metadataFailures" -> status.failures.toString,
      "metadataRefused" -> status.refused.toString,
      "streamsActive" -> count(_ == StreamPhase.Active),
      "streamsDraining" -> count(_.isInstanceOf[StreamPhase.Draining]),
      "streamsParked" -> count(_.isInstanceOf[StreamPhase.Parked]),
      "streamsPending" -> pending.toString,
      "streamsAdded" -> changes.added.toString,
      "streamsRemoved" -> changes.removed.toString
    ) ++ changes.reconcileNanos.map(nanos => "reconcileMillis" -> (nanos / 1000000).toString) ++
      remaining.maxOption.map(left => "drainRemainingMs" -> left.toString) ++
      status.version.map(version => "metadataVersion" -> version.toString) ++
      status.ageMillis.map(age => "metadataAgeMs" -> age.toString)
  }
}
