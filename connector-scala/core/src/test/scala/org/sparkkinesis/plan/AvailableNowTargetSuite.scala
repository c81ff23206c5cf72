package org.sparkkinesis.plan

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.SequenceNumber
import org.sparkkinesis.suite.TimedSuite

class AvailableNowTargetSuite extends TimedSuite {
  private val target = AvailableNowTarget(1000)

  /** Chunks with these arrival times of their first and newest record. */
  private def chunks(arrivals: (Long, Long)*): Vector[ChunkSummary] = arrivals.zipWithIndex.map {
    case ((first, newest), i) => ChunkSummary(SequenceNumber(s"${i + 1}"), 1, 1, first, newest, newest, 0)
  }.toVector

  Seq(
    ("no chunk of none", chunks(), 0),
    ("chunks that arrived before", chunks(100L -> 200L, 300L -> 400L), 2),
    ("a chunk that arrived at exactly that time", chunks(1000L -> 1000L), 1),
    ("a chunk that began before, with its later records", chunks(100L -> 200L, 900L -> 1100L), 2),
    ("no chunk that began later", chunks(100L -> 200L, 1001L -> 1100L), 1),
    ("no chunk after a later one, because ranges have no gaps", chunks(1001L -> 1001L, 500L -> 600L), 0)
  ).foreach { case (name, given, count) =>
    test(s"a batch may take $name")(assert(target.within(given) == given.take(count)))
  }

  // Chunks that are not planned, time up to which the shard was read, whether it ended, and whether the target is
  // reached.
  Seq(
    ("records are left to plan", chunks(100L -> 200L), 5000L, true, false),
    ("nothing was fetched yet", chunks(), 0L, false, false),
    ("the shard was not read up to the time", chunks(), 999L, false, false),
    ("the shard was read up to the time", chunks(), 1000L, false, true),
    ("the shard has ended", chunks(), 0L, true, true),
    ("all remaining records arrived later", chunks(1001L -> 1002L), 0L, false, true)
  ).foreach { case (name, left, readUpTo, ended, expected) =>
    test(s"${if (expected) "reached" else "not reached"} when $name") {
      assert(target.isReached(left, readUpTo, ended) == expected)
    }
  }
}
