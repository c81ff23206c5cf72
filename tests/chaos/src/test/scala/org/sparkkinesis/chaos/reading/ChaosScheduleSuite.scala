package org.sparkkinesis.chaos.reading

import scala.concurrent.duration._

import org.sparkkinesis.chaos.reading.schedule.ChaosEvent._
import org.sparkkinesis.chaos.reading.schedule.{ChaosKind, ChaosPlan, ChaosSchedule}
import org.sparkkinesis.suite.TimedSuite

class ChaosScheduleSuite extends TimedSuite {
  private def plan(seed: Long, kinds: Set[ChaosKind] = ChaosKind.All, mode: String = "efo", executors: Int = 4) =
    ChaosPlan(30.minutes, seed, mode, executors, rate = 1000, kinds = kinds, copies = true)

  private def names(plan: ChaosPlan): Set[String] = ChaosSchedule.of(plan).map(_._2.getClass.getSimpleName).toSet

  test("the same seed gives the same schedule, another one another") {
    assert(ChaosSchedule.of(plan(1)) == ChaosSchedule.of(plan(1)))
    assert(ChaosSchedule.of(plan(1)) != ChaosSchedule.of(plan(2)))
    assert(ChaosSchedule.of(plan(1)).size > 900)
  }

  test("every kind that is asked for happens, and no other") {
    val basic = Set("Split", "Merge", "LeaveOut", "Fault", "KillExecutor", "KillDriver")
    assert(names(plan(1, ChaosKind.Basic)) == basic)
    assert(names(plan(1)) == basic ++ Set("SwitchMode", "AvailableNow", "Jump", "Down", "Recreate", "CutOff"))
    assert(names(plan(1, ChaosKind.parse("recreate,jump"))) == Set("Recreate", "Jump"))
    assert(ChaosSchedule.of(plan(1, Set.empty)).isEmpty)
  }

  test("kinds without a meaning in a run do not happen in it") {
    assert(!names(plan(1, executors = 0)).contains("KillExecutor"))
    def rules(of: ChaosPlan) = ChaosSchedule.of(of).collect { case (_, Fault(rule)) => rule }
    val polling = rules(plan(1, ChaosKind.Basic, mode = "polling"))
    assert(!polling.exists(_.contains("endAfter")) && rules(plan(1)).exists(_.contains("endAfter")))
    assert(!rules(plan(1).copy(copies = false)).exists(_.contains("PutRecords")))
    assert(rules(plan(1)).filter(_.contains("PutRecords")).forall(_.contains(s""""stream": "${ChaosPlan.Copy}"""")))
  }

  test("some jumps of the clock keep all records, the others pass the retention") {
    def hours(kind: String) = ChaosSchedule.of(plan(1, ChaosKind.parse(kind))).collect {
      case (_, Jump(hours)) => hours
      case (_, Down(_, hours)) => hours
    }
    assert(hours("jump").max <= 10)
    assert(hours("expire").min > 24 && hours("expire-while-down").min > 24)
  }

  test("a kind that does not exist is refused with the names of all") {
    val refused = intercept[IllegalArgumentException](ChaosKind.parse("split,spilt"))
    assert(refused.getMessage.contains("'spilt'") && refused.getMessage.contains("cut-off"))
  }
}
