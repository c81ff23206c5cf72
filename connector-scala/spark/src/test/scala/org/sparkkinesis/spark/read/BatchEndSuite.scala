package org.sparkkinesis.spark.read

import scala.collection.immutable.ListMap

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.{ShardId, StartingPosition}

class BatchEndSuite extends AnyFunSuite {
  private val now = 1_700_000_000_000L
  private def at(millis: Long): StartingPosition = StartingPosition.AtTimestamp(millis)

  test("an end in the past or now is accepted") {
    Seq(at(now - 1), at(now), StartingPosition.TrimHorizon).foreach(end =>
      KinesisBatch.checkIsPast(PositionOption(end), now)
    )
  }

  Seq(
    "for every shard" -> PositionOption(at(now + 1)),
    "for one shard" -> PositionOption(at(now), ListMap(ShardId.ofIndex(3) -> at(now + 1)))
  ).foreach { case (whose, end) =>
    test(s"an end in the future $whose is an error") {
      val error = intercept[KinesisConnectorException](KinesisBatch.checkIsPast(end, now))
      assert(error.condition == "KINESIS_OPTION_INVALID")
      assert(error.parameters("option") == "endingPosition")
      assert(error.parameters("value") == "2023-11-14T22:13:20.001Z")
    }
  }
}
