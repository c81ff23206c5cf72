package org.sparkkinesis.simulation.seeds

import org.sparkkinesis.simulation.write.WriteSide

/** Runs seeds of the writing side. `WriteFindingsSuite` has the schedules of seeds that failed. */
class WriteSeedsSuite extends SeedsSuite(WriteSide, 1 to 1000) {
  testSeeds("lose nothing, keep the order of keys, and end") { totals =>
    // Seeds that store little, or in which nothing fails, would prove nothing.
    assert(totals("rows") > 100000 && totals("stored") > totals("rows"))
    assert(totals("duplicates") > 1000 && totals("taskFailures") > 1000)
  }
  testRepeats(20)
}
