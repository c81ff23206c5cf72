package org.sparkkinesis.plan

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.SequenceNumber
import org.sparkkinesis.suite.TimedSuite

class AvailableNowTargetSuite extends TimedSuite {
  private val target = AvailableNowTarget(1000)

  /** Chunks by the arrival times of their first and newest record. */
  private def chunks(arrivals: (Long, Long)*): Vector[ChunkSummary] = arrivals.zipWithIndex.map {
    case ((first, newest), i) => ChunkSummary(SequenceNumber(s"${i + 1}"), 1, 1, first, newest, newest, 0)
  }.toVector

  Seq(
    ("none of none", chunks(), 0),
    ("what arrived before", chunks(100L -> 200L, 300L -> 400L), 2),
    ("what arrived at the very moment", chunks(1000L -> 1000L), 1),
    ("a chunk that began before, with its later records", chunks(100L -> 200L, 900L -> 1100L), 2),
    ("nothing that began later", chunks(100L -> 200L, 1001L -> 1100L), 1),
    ("nothing behind a later chunk, since ranges have no gaps", chunks(1001L -> 1001L, 500L -> 600L), 0)
  ).foreach { case (name, given, count) =>
    test(s"a batch may take $name")(assert(target.within(given) == given.take(count)))
  }

  // Chunks that are not planned, read up to, ended: whether nothing more belongs to the target.
  Seq(
    ("records are left to plan", chunks(100L -> 200L), 5000L, true, false),
    ("nothing was fetched yet", chunks(), 0L, false, false),
    ("the shard was not read up to the time", chunks(), 999L, false, false),
    ("the shard was read up to the time", chunks(), 1000L, false, true),
    ("the shard has ended", chunks(), 0L, true, true),
    ("all that is left came later", chunks(1001L -> 1002L), 0L, false, true)
  ).foreach { case (name, left, readUpTo, ended, expected) =>
    test(s"${if (expected) "reached" else "not reached"} when $name") {
      assert(target.isReached(left, readUpTo, ended) == expected)
    }
  }
}
