package org.sparkkinesis.simulation.seeds

import org.sparkkinesis.simulation.read.LogicalSide

/** Runs seeds of queries that read a logical stream. `LogicalFindingsSuite` has the schedules of seeds that failed. */
class LogicalSeedsSuite extends SeedsSuite(LogicalSide, 1 to 200) {
  testSeeds("lose no record of a stream that comes and goes, and repeat none") { totals =>
    // Seeds in which no stream comes or goes would prove nothing.
    assert(totals("delivered") > 50L * seeds.size)
    assert(totals("streamsJoined") > seeds.size && totals("runsWithoutLoss") > seeds.size / 4)
    assert(totals("streamsParked") > seeds.size / 10 && totals("streamsReturned") > seeds.size / 10)
    assert(totals("streamsDropped") > 0)
    assert(totals.group("faults").keySet.filter(_.startsWith("Metadata")) == Set(
      "MetadataDown",
      "MetadataEmpty",
      "MetadataLacking",
      "MetadataOlder",
      "MetadataOtherStream",
      "MetadataSlow",
      "MetadataTruncated",
      "MetadataUnknownState"
    ))
  }
  testRepeats(10)
}
