package org.sparkkinesis.simulation.read.loss

import org.sparkkinesis.service.Operation.DescribeStreamSummary
import org.sparkkinesis.service.ServiceErrorKind.Internal
import org.sparkkinesis.simulation.model.ModelSettings
import org.sparkkinesis.simulation.model.ServiceFault.{Failing, StaleListing}
import org.sparkkinesis.simulation.read.ReadFindings
import org.sparkkinesis.simulation.read.schedule.ReadAction._
import org.sparkkinesis.simulation.read.schedule._
import org.sparkkinesis.simulation.spark.QueryTrigger._
import org.sparkkinesis.simulation.spark.TaskSettings
import org.sparkkinesis.suite.TimedSuite

/** Schedules in which a stream is recreated and resharded while a query begins at positions without a record. */
class RecreatedFindingsSuite extends TimedSuite with ReadFindings {
  private val rare = Map("minFetchPeriod" -> "4m", "shardFetchInterval" -> "20m")

  test("258: the children of a shard of a recreated stream are not read before the stream is known to be another one") {
    run(ReadScenario(
      258,
      ReadSetup(shards = 2, initialPosition = "latest", positionAgeMillis = 1000L, options = rare),
      Vector(
        Start(ProcessingTime(60000L), efo = false, failOnDataLoss = false),
        Split(0),
        Advance(60000L),
        Recreate(2, 120000L),
        Advance(120207L),
        Put(1),
        Split(0),
        LoseExecutor(0),
        Put(3),
        Advance(32400000L),
        Advance(50400000L),
        PutTo(1, 1)
      )
    ))
  }

  test("416: the same in real-time mode, whose batch ends then") {
    run(ReadScenario(
      416,
      ReadSetup(options = rare),
      Vector(
        Start(RealTime(300000L), efo = false, failOnDataLoss = false),
        Advance(180000L),
        Split(0),
        Advance(900000L),
        Recreate(1, 60000L),
        Advance(60327L),
        Put(1),
        Split(0),
        Merge(0)
      )
    ))
  }

  test("283: a real-time task does not begin a child that another task reads as the shard of an old stream") {
    run(ReadScenario(
      283,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        positionAgeMillis = 108000000L,
        model = ModelSettings(200, 10, 2, 50, 1000, 5000L),
        options = Map("minFetchPeriod" -> "1s", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Start(RealTime(5000L), efo = false, failOnDataLoss = false),
        Split(0),
        Advance(1000L),
        Recreate(2, 1000L),
        Advance(1465L),
        LoseExecutor(0),
        Merge(0),
        Put(1)
      )
    ))
  }

  test("768: nor in the same executor") {
    run(ReadScenario(
      768,
      ReadSetup(shards = 2, executors = 2, options = rare),
      Vector(
        Start(RealTime(300000L), efo = false, failOnDataLoss = false),
        Advance(60000L),
        Recreate(1, 120000L),
        Advance(120472L),
        Put(1),
        LoseExecutor(0),
        Split(0)
      )
    ))
  }

  test("1020983: two real-time tasks do not read a child of the old stream and one of the new stream of that name") {
    run(ReadScenario(
      1020983,
      ReadSetup(
        shards = 4,
        initialPosition = "latest",
        executors = 3,
        model = ModelSettings(200, 2, 2, 0, 1000, 15000L),
        options = rare
      ),
      Vector(
        Start(RealTime(300000L), efo = false, failOnDataLoss = false),
        Split(0),
        Advance(60000L),
        Recreate(1, 120000L),
        Advance(120383L),
        Split(0),
        Split(0),
        Put(3)
      )
    ))
  }

  test("2009150: old listings do not lack a shard of a recreated stream that was read") {
    run(ReadScenario(
      2009150,
      ReadSetup(
        shards = 2,
        streams = 2,
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Start(ProcessingTime(1000L), efo = false, failOnDataLoss = false),
        Split(0),
        Advance(15000L),
        Fault(StaleListing(9), 120000L),
        Recreate(1, 1000L),
        Advance(1029L),
        Split(0),
        Put(1),
        AddExecutor,
        Advance(7000L)
      )
    ))
  }

  test("2018656: a shard of a recreated stream that was read to its end is not read again") {
    run(ReadScenario(
      2018656,
      ReadSetup(
        shards = 2,
        initialPosition = "latest",
        positionAgeMillis = 3600000L,
        executors = 2,
        model = ModelSettings(20, 10, 1, 0, 1000, 5000L),
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "10s")
      ),
      Vector(
        Start(ProcessingTime(1000L), efo = false, failOnDataLoss = false),
        Advance(8084L),
        Split(0),
        Advance(15470L),
        Recreate(2, 2000L),
        Advance(2433L),
        Put(3),
        Split(0),
        Put(3),
        Advance(1252L),
        AddExecutor,
        Split(0),
        Merge(0),
        Put(3),
        LoseExecutor(0)
      )
    ))
  }

  test("2000393: the records of a key in a recreated stream come in order") {
    run(ReadScenario(
      2000393,
      ReadSetup(
        shards = 3,
        initialPosition = "at_timestamp",
        positionAgeMillis = 1000L,
        executors = 2,
        model = ModelSettings(5, 2, 100, 0, 1000, 5000L),
        tasks = TaskSettings(4, 0, 0, 50, 30),
        options = Map("minFetchPeriod" -> "3s", "shardFetchInterval" -> "2s")
      ),
      Vector(
        Start(RealTime(5000L), efo = false, failOnDataLoss = false),
        Advance(18349L),
        Fault(Failing(Some(DescribeStreamSummary), Internal, 100), 20000L),
        Recreate(1, 10000L),
        Advance(10122L),
        Put(3),
        Split(0),
        Put(1),
        Split(0),
        Advance(1000L),
        Put(3)
      )
    ))
  }
}
