package org.sparkkinesis.simulation.read.loss
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.ListingHoles
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.suite.TimedSuite

/** Fixed failures around records and shards that expire. */
class ExpiryFindingsSuite extends TimedSuite with ReadFindings {
  test("A2: descendants of shards of which two generations expired are read, or reported as lost") {
    run(ReadScenario(
      46,
      ReadSetup(options = slow),
      Vector(
        Start(Once, efo = false, failOnDataLoss = false),
        Advance(Minute),
        Split(1),
        Merge(1),
        Advance(26 * Hour),
        Put(1)
      )
    ))
  }

  test("A3: a logged batch over an expired shard is data loss, and is skipped if loss is allowed") {
    killed { steps =>
      ReadScenario(
        47,
        ReadSetup(shards = 2, options = slow),
        Vector(
          Put(5),
          Start(ProcessingTime(Minute), efo = false, failOnDataLoss = true),
          Kill(steps),
          Advance(Minute),
          Merge(0),
          Advance(26 * Hour)
        )
      )
    }
  }

  test("A6: records of a logged batch that expired before it ran again are reported as lost") {
    killed { steps =>
      ReadScenario(
        6,
        ReadSetup(options = slow),
        Vector(
          Put(5),
          Advance(10 * Hour),
          Put(5),
          Start(Once, efo = false, failOnDataLoss = true),
          Kill(steps),
          Advance(15 * Hour)
        )
      )
    }
  }

  test("A6: records that expire while a running query is behind are reported as lost") {
    val outcome = run(ReadScenario(
      61,
      ReadSetup(
        options = slow ++ Map("maxRecordsPerTrigger" -> "1", "fetchBufferSize" -> "1048576"),
        model = ModelSettings(recordsPerAnswer = 2),
        recordBytes = 400000
      ),
      Vector(
        Put(12),
        Start(ProcessingTime(6 * Hour), efo = false, failOnDataLoss = false),
        Advance(40 * Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered < 12)
  }

  test("A6: records that are gone because the retention was decreased under a running query are reported as lost") {
    val outcome = run(ReadScenario(
      62,
      ReadSetup(
        retentionHours = 168,
        options = slow ++ Map("maxRecordsPerTrigger" -> "1", "fetchBufferSize" -> "1048576"),
        model = ModelSettings(recordsPerAnswer = 2),
        recordBytes = 400000
      ),
      Vector(
        Put(12),
        Start(ProcessingTime(6 * Hour), efo = false, failOnDataLoss = false),
        Advance(30 * Hour),
        Retain(24),
        Advance(10 * Hour)
      )
    ))
    assert(outcome.losses > 0 && outcome.delivered < 12)
  }

  test("seed 2840: positions are checked for expiry also after a batch that runs again") {
    run(ReadScenario(
      2840,
      ReadSetup(shards = 3, options = slow + ("maxRecordsPerTrigger" -> "1")),
      Vector(
        Put(10),
        PutTo(0, 5),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        PutAggregate(5, 2),
        Advance(13 * Minute),
        PutTo(3, 13),
        Advance(91980000),
        Kill(29),
        Advance(Hour),
        Put(11),
        Advance(Hour)
      )
    ))
  }

  test("A4: an initial position before the retention period is no data loss") {
    run(ReadScenario(
      107,
      ReadSetup(shards = 3, initialPosition = "at_timestamp", positionAgeMillis = 23 * Hour, options = slow),
      Vector(Put(7), Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false), Advance(7000))
    ))
  }

  test("a query that was stopped for less than the retention period reports no loss") {
    run(ReadScenario(
      35,
      ReadSetup(options = slow),
      Vector(Put(1), Advance(10 * Hour), Start(AvailableNow, efo = false, failOnDataLoss = true), Advance(15 * Hour))
    ))
  }

  test("a query that read an idle stream within the retention period reports no loss") {
    run(ReadScenario(
      26,
      ReadSetup(initialPosition = "latest", options = slow),
      Vector(
        Start(AvailableNow, efo = false, failOnDataLoss = true),
        Advance(15 * Hour),
        Start(Once, efo = false, failOnDataLoss = true),
        Advance(13 * Hour)
      )
    ))
  }

  test("seed 18: an open shard that no listing contains for a long time is not read again") {
    run(ReadScenario(
      18,
      ReadSetup(shards = 2, executors = 3, options = slow + ("maxBytesPerTrigger" -> "1k"), streams = 3),
      Vector(
        Put(3),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(26 * Minute),
        Stop,
        Advance(28 * Hour),
        Put(5),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Kill(34),
        Advance(13 * Minute),
        Put(2),
        Fault(ListingHoles(1), 48 * Minute),
        Start(ProcessingTime(Minute), efo = false, failOnDataLoss = false),
        Advance(15 * Minute)
      )
    ))
  }

  test("seed 67: expired shards that were read while the stream was idle are no data loss") {
    run(ReadScenario(
      67,
      ReadSetup(shards = 4, options = slow),
      Vector(
        Merge(5),
        Split(5),
        Advance(15 * Hour),
        Start(AvailableNow, efo = true, failOnDataLoss = false),
        Advance(10 * Hour)
      )
    ))
  }

  test(
    "seed 10658: records that expire in the child of shards which a killed driver had read are reported as lost"
  ) {
    run(ReadScenario(
      10658,
      ReadSetup(shards = 2, options = verySlow),
      Vector(
        Put(5),
        Start(ProcessingTime(Hour), efo = false, failOnDataLoss = false),
        Advance(6 * Minute),
        Merge(1),
        Kill(7),
        Put(25),
        Advance(25 * Hour)
      )
    ))
  }
}
