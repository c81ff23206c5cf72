package org.sparkkinesis.plan.realtime

import org.sparkkinesis.suite.TimedSuite

class LatencyCountsSuite extends TimedSuite {
  private def counts(millis: Long*): LatencyCounts = {
    val builder = new LatencyCounts.Builder
    millis.foreach(builder.add(_, 1))
    builder.result()
  }

  test("without a time there is no percentile") {
    assert(LatencyCounts.Empty.percentile(0.5) == None && counts().percentile(1) == None)
  }

  test("percentiles are at most a fifth above the time, and at least the time") {
    val all = counts(1L to 2000L: _*)
    Seq(0.01, 0.5, 0.9, 0.99, 1.0).foreach { share =>
      val (found, exact) = (all.percentile(share).get, math.ceil(2000 * share))
      assert(found >= exact && found <= exact * 1.21, s"$share: $found, exactly $exact")
    }
    assert(all.maxMillis == 2000)
  }

  test("times of clocks that differ, and very long times, are counted at the ends") {
    assert(counts(-5, 0).percentile(1) == Some(0))
    val long = counts(Long.MaxValue / 4)
    assert(long.percentile(0.5).nonEmpty && long.maxMillis == Long.MaxValue / 4)
  }

  test("counts of several tasks are added") {
    val builder = new LatencyCounts.Builder
    builder.add(100, 98)
    val all = builder.result() + counts(1, 3000) + LatencyCounts.Empty
    assert(all.counts.sum == 100)
    assert(all.percentile(0.5).exists(median => median >= 100 && median <= 120))
    assert(all.percentile(1) == Some(3000))
  }
}
