package org.sparkkinesis.simulation.seeds

import org.sparkkinesis.simulation.read.ReadSide

/** Runs seeds of the reading side. `ReadFindingsSuite` has the schedules of seeds that failed. */
class ReadSeedsSuite extends SeedsSuite(ReadSide, 1 to 1000) {
  testSeeds("lose no record, repeat no record, and end") { totals =>
    // Check that the seeds put and lose records at all.
    assert(totals("delivered") > 50L * seeds.size)
    assert(totals("runsWithoutLoss") > 0 && totals("runsWithoutLoss") < seeds.size)
    assert(totals("calls.SubscribeToShard") > seeds.size)
    assert(totals("realTimeBatches") > seeds.size)
    assert(totals.group("faults").keySet == Set(
      "EmptyAnswers",
      "EndWithoutChildren",
      "Failing",
      "Freeze",
      "Kill",
      "KillExecutor",
      "ListingHoles",
      "LoseExecutor",
      "LoseMessages",
      "Recreate",
      "SilentSubscriptions",
      "Skew",
      "SkewExecutors",
      "StaleListing",
      "Suspend",
      "Unreachable"
    ))
  }
  testRepeats(20)
}
