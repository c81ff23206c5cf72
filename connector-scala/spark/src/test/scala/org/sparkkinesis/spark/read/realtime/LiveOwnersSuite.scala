package org.sparkkinesis.spark.read.realtime

import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.spark.protocol.ShardReport
import org.sparkkinesis.suite.TimedSuite

class LiveOwnersSuite extends TimedSuite {
  private val shard = StreamShard("arn", ShardId.ofIndex(0))
  private val day = 24.hours.toMillis
  private val report = ShardReport(shard, 1, Vector.empty, 0, 0, 0, None, None)

  Seq[(String, Option[Long], Boolean)](
    ("the first answer", None, true),
    ("a later answer", Some(5000), false)
  ).foreach { case (name, fetched, isFirst) =>
    test(s"a shard is late if $name is only its end, and its records expired before that") {
      Seq(day - 1 -> false, day + 1 -> true).foreach { case (age, isLate) =>
        var now = 5000L
        val owners = new LiveOwners(() => now)
        val reader = Reader("1", 1)
        owners.begin(Map(shard -> Option.when(isFirst)(5000L)), Map.empty)
        fetched.foreach(millis => owners.accept(reader, report.copy(readUpToMillis = millis)))
        now += age
        owners.accept(reader, report.copy(end = Some(Nil)))
        val late = if (isLate) Seq(Overtaken(shard, 5000, age)) else Nil
        assert(owners.takeOvertaken() == late)
        now += day
        owners.accept(reader, report.copy(end = Some(Nil)))
        assert(owners.takeOvertaken() == Nil, "a report that repeats the end")
      }
    }
  }

  test("a new consumer in the same executor begins where the batch began, and one that continues does not") {
    Seq(1L -> false, 2L -> true).foreach { case (startEpoch, isNew) =>
      var now = 5000L
      val owners = new LiveOwners(() => now)
      val reader = Reader("1", 1)
      owners.begin(Map(shard -> Some(5000L)), Map.empty)
      now += day - 1
      owners.accept(reader, report.copy(readUpToMillis = now, startEpoch = 1))
      now += 2
      owners.begin(Map(shard -> Some(5000L)), Map.empty)
      owners.accept(reader, report.copy(epoch = 2, readUpToMillis = now, startEpoch = startEpoch))
      assert(owners.takeOvertaken() == (if (isNew) Seq(Overtaken(shard, 5000, day + 1)) else Nil))
    }
  }

  test("a shard is late if the arrival of a record shows that the driver's time is too early") {
    val owners = new LiveOwners(() => 5000L)
    owners.begin(Map(shard -> Some(5000L)), Map.empty)
    val arrival = 5001 + day
    val chunk = ChunkSummary(SequenceNumber("9"), 1, 1, arrival, arrival, arrival, 0)
    owners.accept(Reader("1", 1), report.copy(chunks = Vector(chunk), readUpToMillis = arrival))
    assert(owners.takeOvertaken() == Seq(Overtaken(shard, 5000, day + 1)))
  }
}
