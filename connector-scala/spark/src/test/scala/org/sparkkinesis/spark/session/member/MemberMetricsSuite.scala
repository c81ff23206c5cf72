package org.sparkkinesis.spark.session.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.plan.offset.StreamPhase.{Active, Draining, Parked}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.metadata.MetadataStatus
import org.sparkkinesis.suite.TimedSuite

class MemberMetricsSuite extends TimedSuite {

  private def offset(phases: (String, StreamPhase)*): SourceOffset = SourceOffset(phases.map { case (arn, phase) =>
    StreamOffset(arn, arn, 1, SortedMap(ShardId.ofIndex(0) -> ShardPosition.Horizon), phase = phase)
  })

  private def metrics(now: SourceOffset, changes: MemberChanges = MemberChanges()): Map[String, String] =
    MemberMetrics.of(MetadataStatus(Some(3), 4, 1, 0), Some(now), 2, changes, nowMillis = 1000, graceMillis = 500)

  test("streams are counted by phase, and the drain that ends last counts") {
    val all = metrics(offset("a" -> Active, "b" -> Draining(600), "c" -> Draining(900), "d" -> Parked(5, true)))
    assert(all("streamsActive") == "1" && all("streamsDraining") == "2" && all("streamsParked") == "1")
    assert(all("drainRemainingMs") == "400" && all("streamsPending") == "2" && all("metadataVersion") == "3")
    assert(metrics(offset("b" -> Draining(100)))("drainRemainingMs") == "0", "the grace is over, records are left")
    assert(!metrics(offset("a" -> Active)).contains("drainRemainingMs"))
  }

  test("streams that join, return and leave are counted from the start of a run, with the time of the last change") {
    val start = offset("a" -> Active, "b" -> Parked(5, true))
    assert(metrics(start)("streamsAdded") == "0" && !metrics(start).contains("reconcileMillis"))
    val joined = offset("a" -> Active, "b" -> Active, "c" -> Active)
    val draining = offset("a" -> Active, "b" -> Draining(9), "c" -> Parked(9, false))
    val parked = offset("a" -> Active, "b" -> Parked(20, true), "c" -> Parked(9, false))
    val changes = Seq(start -> joined, joined -> draining, draining -> parked).foldLeft(MemberChanges()) {
      case (done, (before, after)) => done.and(before, after, nanos = 7500000)
    }
    val all = metrics(parked, changes)
    assert(all("streamsAdded") == "2" && all("streamsRemoved") == "2" && all("reconcileMillis") == "7")
  }
}
