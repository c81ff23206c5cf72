package org.sparkkinesis.chaos

import scala.concurrent.duration._

import org.sparkkinesis.chaos.ReadingChaos.Plan
import org.sparkkinesis.suite.TimedSuite

/** The short form of [[ReadingChaos]], without a cluster; the long one is `tests/chaos/run reading`. */
class ReadingChaosSuite extends TimedSuite with TemporaryFolder {
  override protected def timeLimit: FiniteDuration = 8.minutes

  Seq("polling" -> true, "efo" -> false).foreach { case (mode, quotas) =>
    val within = if (quotas) ", within the service's quotas" else ""
    test(s"every record once and in order, through resharding, faults and kills: $mode$within") {
      val outcome = ReadingChaos.run(folder(), Plan(15.seconds, seed = 5, mode, executors = 0, rate = 1000, quotas))
      assert(outcome.verdict.faults == Nil, outcome.json)
      assert(outcome.verdict.rows == outcome.records)
      assert(outcome.events.size >= 3, outcome.json)
    }
  }

  test("the same seed gives the same schedule, and another seed a different one") {
    def schedule(seed: Long) = ChaosSchedule.of(seed, 10.minutes, executors = true, fanOut = true)
    assert(schedule(1) == schedule(1))
    assert(schedule(1) != schedule(2))
    val kinds = schedule(1).map(_._2.getClass.getSimpleName).toSet
    assert(kinds == Set("Split", "Merge", "LeaveOut", "Fault", "KillExecutor", "KillDriver$"))
    assert(schedule(1).size > 300, schedule(1).size.toString)
  }
}
