package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.read.schedule.MetadataFault.Empty
import org.sparkkinesis.simulation.read.schedule.NamedState.{Active, Standby}
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule.{ReadScenario, ReadSetup}
import org.sparkkinesis.simulation.spark.QueryTrigger.{Once, ProcessingTime}
import org.sparkkinesis.suite.TimedSuite

/** Schedules with logical streams that failed. */
class LogicalFindingsSuite extends TimedSuite with ReadFindings {

  test("a stream waits for its predecessor also while the metadata service answers with an empty document") {
    run(ReadScenario(
      151,
      ReadSetup(
        options = fast ++ Map("metadataRefreshInterval" -> "1s", "drainTimeout" -> "1m"),
        streams = 3,
        logical = Vector(Active, Standby, Standby)
      ),
      Vector(
        Start(ProcessingTime(5000), efo = false, failOnDataLoss = false),
        Migrate(1, 2),
        Put(1),
        Advance(2000),
        FailMetadata(Empty, 51464),
        Advance(10000)
      )
    ))
  }

  test("AvailableNow reads the newest records of a logical stream if the driver's clock is behind the service's") {
    run(ReadScenario(
      147,
      ReadSetup(options = slow, streams = 3, logical = Vector(Active, Active, Active)),
      Vector(
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(16 * Minute),
        PutTo(0, 1),
        Skew(-20 * Minute)
      )
    ))
  }
}
