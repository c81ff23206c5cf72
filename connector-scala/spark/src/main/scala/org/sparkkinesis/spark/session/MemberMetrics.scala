package org.sparkkinesis.spark.session

import org.sparkkinesis.plan.offset.{SourceOffset, StreamPhase}
import org.sparkkinesis.spark.metadata.MetadataStatus

/** Builds the metrics of a query that reads logical streams. */
private[session] object MemberMetrics {

  /**
   * @param now
   *   the streams as they are read now
   * @param pending
   *   number of streams that the service names and that could not be opened yet
   */
  def of(status: MetadataStatus, now: Option[SourceOffset], pending: Int): Map[String, String] = {
    val phases = now.toSeq.flatMap(_.streams.values.map(_.phase))
    def count(matches: StreamPhase => Boolean): String = phases.count(matches).toString
    Map(
      "metadataFetches" -> status.fetches.toString,
      "metadataFailures" -> status.failures.toString,
      "metadataRefused" -> status.refused.toString,
      "streamsActive" -> count(_ == StreamPhase.Active),
      "streamsDraining" -> count(_.isInstanceOf[StreamPhase.Draining]),
      "streamsParked" -> count(_.isInstanceOf[StreamPhase.Parked]),
      "streamsPending" -> pending.toString
    ) ++ status.version.map(version => "metadataVersion" -> version.toString) ++
      status.ageMillis.map(age => "metadataAgeMs" -> age.toString)
  }
}
