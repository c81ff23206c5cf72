package org.sparkkinesis.service

import org.sparkkinesis.suite.TimedSuite

class ChangeRequestSuite extends TimedSuite {
  test("the number of shards changes in steps that the service accepts") {
    Seq(
      (4, 4) -> Nil,
      (4, 5) -> List(5),
      (2, 9) -> List(4, 8, 9),
      (9, 2) -> List(5, 3, 2),
      (1, 2) -> List(2),
      (3, 1) -> List(2, 1)
    ).foreach { case ((from, to), steps) => assert(ChangeRequest.shardCounts(from, to) == steps, s"$from to $to") }
  }

  test("each step is at most twice and at least half of the one before, and the last one is the wanted number") {
    for (from <- 1 to 60; to <- 1 to 60) {
      val counts = from :: ChangeRequest.shardCounts(from, to)
      assert(counts.last == to)
      counts.zip(counts.tail).foreach { case (before, after) => assert(after <= before * 2 && after * 2 >= before) }
    }
  }
}
