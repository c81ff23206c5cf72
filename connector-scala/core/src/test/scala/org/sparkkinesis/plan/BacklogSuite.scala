package org.sparkkinesis.plan

import org.sparkkinesis.suite.TimedSuite

/** Tests how long a batch waits for the records of a backlog. */
class BacklogSuite extends TimedSuite {

  /** Time behind the tip, time since the last batch, and the expected waiting time, in milliseconds. */
  private val cases = Seq(
    (0L, 0L, 0L),
    (100L, 0L, 5L),
    (2000L, 30L, 70L),
    (2000L, 100L, 0L),
    (20000L, 0L, 1000L),
    (86400000L, 0L, 1000L),
    (86400000L, 400L, 600L),
    (86400000L, 5000L, 0L)
  )

  cases.foreach { case (behind, since, wanted) =>
    test(s"$behind ms behind the tip and $since ms after the last batch, a batch waits for $wanted ms") {
      assert(Backlog.waitMillis(behind, since) == wanted)
    }
  }
}
