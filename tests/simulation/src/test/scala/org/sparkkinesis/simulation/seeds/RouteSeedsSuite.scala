package org.sparkkinesis.simulation.seeds

import org.sparkkinesis.simulation.write.RouteSide

/** Runs seeds of queries that write to a logical stream. `RouteFindingsSuite` has the schedules of failed seeds. */
class RouteSeedsSuite extends SeedsSuite(RouteSide, 1 to 300) {
  testSeeds("store every row in a stream of its micro-batch's routes, and end") { totals =>
    // Seeds in which the routes stay the same, and no stream fails, would prove nothing.
    assert(totals("rows") > 100L * seeds.size && totals("stored") > totals("rows"))
    assert(totals("routeSwitches") > seeds.size && totals("routeRepeats") > seeds.size)
    assert(totals("streamsLeft") > seeds.size / 2)
  }
  testRepeats(10)
}
