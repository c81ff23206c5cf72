package org.sparkkinesis.spark.read

import scala.collection.immutable.ListMap

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StartingPosition}
import org.sparkkinesis.spark.read.query.FirstRecords
import org.sparkkinesis.suite.TimedSuite

/** Tests which positions a batch read accepts, and which shards it reads. */
class BatchPositionsSuite extends TimedSuite {
  private val now = 1_700_000_000_000L
  private def at(millis: Long): StartingPosition = StartingPosition.AtTimestamp(millis)
  private val shard =
    Shard(ShardId.ofIndex(3), None, None, HashKeyRange.uniform(1).head, SequenceNumber("1"), None)

  private def range(from: StartingPosition, to: StartingPosition) =
    KinesisBatch.range("arn", "orders", shard, PositionOption(from), PositionOption(to))

  Seq(ReadOptions.initialPosition, ReadOptions.endingPosition).foreach { entry =>
    test(s"${entry.key}: a time in the past or now is accepted") {
      Seq(at(now - 1), at(now), StartingPosition.TrimHorizon, StartingPosition.Latest).foreach(position =>
        KinesisBatch.checkIsPast(entry, PositionOption(position), now)
      )
    }

    Seq(
      "for every shard" -> PositionOption(at(now + 1)),
      "for one shard" -> PositionOption(at(now), ListMap(shard.id -> at(now + 1)))
    ).foreach { case (whose, position) =>
      test(s"${entry.key}: a time in the future $whose is an error") {
        val error = intercept[KinesisConnectorException](KinesisBatch.checkIsPast(entry, position, now))
        assert(error.condition == "KINESIS_OPTION_INVALID")
        assert(error.parameters("option") == entry.key)
        assert(error.parameters("value") == "2023-11-14T22:13:20.001Z")
      }
    }
  }

  test("a shard that is read from latest, or to the oldest record, has nothing to read") {
    assert(range(StartingPosition.Latest, at(now)).isEmpty)
    assert(range(StartingPosition.TrimHorizon, StartingPosition.TrimHorizon).isEmpty)
  }

  test("a batch read looks at the first records that may expire before its tasks read them") {
    val (day, hour) = (24 * 3600000L, 3600000L)
    val oldest = now - day
    def mayExpire(position: StartingPosition) = FirstRecords.mayExpire(position, oldest, now)
    assert(mayExpire(at(oldest)) && mayExpire(at(now - 19 * hour)))
    assert(mayExpire(StartingPosition.AfterSequenceNumber(SequenceNumber("1"))))
    assert(!mayExpire(at(now - 17 * hour)), "no task begins so late")
    assert(!mayExpire(at(oldest - 1)), "a time before the retention period means the oldest record")
    assert(!mayExpire(StartingPosition.TrimHorizon), "that is another record at any moment")
    assert(FirstRecords.expiresSoon(now - 19 * hour, now) && !FirstRecords.expiresSoon(now - 17 * hour, now))
  }

  test("a shard that is read from any other position is read up to the end") {
    Seq(at(now), at(now - 1), StartingPosition.TrimHorizon).foreach(from =>
      assert(range(from, at(now)).map(_.after).contains(from))
    )
  }
}
