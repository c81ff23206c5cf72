package org.sparkkinesis.simulation.write

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.simulation.write.WriteAction._
import org.sparkkinesis.simulation.write.WriteTarget._

/** Shortened schedules that failed before. README.md has the seed and the revision that found each. */
class WriteFindingsSuite extends AnyFunSuite {
  private def run(scenario: WriteScenario): WriteOutcome = WriteRuns.run(scenario).fold(throw _, identity)

  test("a stream under its name and its ARN keeps the order of keys after it was created again") {
    run(WriteScenario(
      31,
      WriteSetup(shards = Vector(3), targets = Vector(Name, Arn(0)), options = Map("ordering" -> "key")),
      Vector(Batch(5, 1, 30), Advance(200), Recreate(0, 2, 2908))
    ))
  }

  test("a task that waits for room fails when the writer of another stream has failed") {
    run(WriteScenario(
      17,
      WriteSetup(
        shards = Vector(3, 1),
        targets = Vector(Name, Arn(1)),
        rowPauseMillis = 200,
        options = Map("maxBufferedBytes" -> "1k")
      ),
      Vector(Batch(1, 1, 30), Advance(19000), Recreate(1, 1, 7145), Batch(5, 1, 2000), Advance(5000))
    ))
  }
}
