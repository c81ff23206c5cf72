package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.simulation.metadata.NamedState.{Active, Draining}
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which an answer of the service is older than its receipt. */
class FrozenFindingsSuite extends TimedSuite with ReadFindings {
  private val setup = ReadSetup(
    model = ModelSettings(latencyMillis = 200),
    options = Map(
      "minFetchPeriod" -> "250ms",
      "shardFetchInterval" -> "10s",
      "metadataRefreshInterval" -> "1s",
      "drainGrace" -> "0ms"
    ),
    streams = 2,
    logical = Vector(Active, Active)
  )

  test("a stream is deleted with unread records while its executor stands still, and has an answer from before") {
    for (efo <- Seq(false, true); offset <- 0 until 20) run(ReadScenario(
      offset.toLong,
      setup,
      Vector(
        PutTo(0, 1),
        PutTo(1, 1),
        Start(ProcessingTime(100), efo, failOnDataLoss = false),
        Advance(20000L + 20 * offset),
        Freeze(0, Minute),
        Advance(500),
        PutTo(0, 1),
        PutTo(1, 1),
        Advance(1000),
        Recreate(1, 100000),
        Advance(5 * Minute)
      )
    ))
  }

  test("a stream gets records before it leaves while its executor stands still, and has an answer from before") {
    for (efo <- Seq(false, true); offset <- 0 until 20) run(ReadScenario(
      offset.toLong,
      setup,
      Vector(
        PutTo(0, 1),
        PutTo(1, 1),
        Start(ProcessingTime(100), efo, failOnDataLoss = false),
        Advance(20000L + 20 * offset),
        Freeze(0, 2 * Minute),
        Advance(500),
        PutTo(1, 1),
        Advance(1000),
        Name(1, Draining),
        Advance(5 * Minute)
      )
    ))
  }

  test("a stream leaves while its executor has no room for the events that the service has sent") {
    for (grace <- Seq("0ms", "10s"); count <- 1 to 20) run(ReadScenario(
      count.toLong,
      setup.copy(
        recordBytes = 100000,
        options = setup.options ++
          Map("fetchBufferSize" -> "1048576", "maxRecordsPerTrigger" -> "3", "drainGrace" -> grace)
      ),
      Vector(
        Start(ProcessingTime(20000), efo = true, failOnDataLoss = false),
        Advance(20000L),
        PutTo(1, 20 + count),
        Advance(30000),
        PutTo(1, 1),
        Name(1, Draining),
        Advance(30 * Minute)
      )
    ))
  }
}
