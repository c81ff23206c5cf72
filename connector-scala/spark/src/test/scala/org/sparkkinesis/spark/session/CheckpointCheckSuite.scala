package org.sparkkinesis.spark.session

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.StreamRecreated
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset}
import org.sparkkinesis.spark.connection.FakeDirectory.arn

class CheckpointCheckSuite extends SessionFixture {
  final private class Rig(names: Seq[String] = Seq("orders"), failOnDataLoss: Boolean = true)
      extends SessionRig(names, failOnDataLoss, Map.empty)

  test("an offset of unchanged streams is returned as it is, without a service call") {
    val rig = new Rig(Seq("clicks", "orders"))
    val offset = SourceOffset(Seq("clicks", "orders").map(stream(_, Created, 0 -> readUpTo(5))))
    assert(rig.check.mend(offset) eq offset)
    assert(rig.listings == 0)
  }

  test("an offset of which no stream is read any more is an error that names both sets") {
    Seq(Seq("clicks"), Seq("clicks", "views"), Nil).foreach { names =>
      val offset = SourceOffset(names.map(stream(_, Created, 0 -> readUpTo(5))))
      val error = intercept[KinesisConnectorException](new Rig().check.mend(offset))
      assert(error.condition == "KINESIS_CHECKPOINT_OTHER_STREAM")
      assert(error.parameters("checkpointStream") == names.map(arn).mkString(", "))
      assert(error.parameters("stream") == arn("orders"))
    }
  }

  test("an offset of more or of fewer streams is returned as it is") {
    Seq(Seq("clicks", "orders"), Seq("orders")).foreach { names =>
      val offset = SourceOffset(names.map(stream(_, Created, 0 -> readUpTo(5))))
      assert(new Rig(Seq("orders", "views")).check.mend(offset) eq offset)
    }
  }

  test("a recreated stream ends the query with both creation times") {
    val error = intercept[KinesisConnectorException] {
      new Rig().check.mend(SourceOffset(Seq(stream("orders", Created - 1000, 0 -> readUpTo(5)))))
    }
    assert(error.condition == "KINESIS_STREAM_RECREATED")
    assert(error.parameters("checkpointCreation") == "2020-09-13T12:26:39Z")
    assert(error.parameters("creation") == "2020-09-13T12:26:40Z")
  }

  test("if loss is allowed, a recreated stream starts at its oldest record and others continue, with one event") {
    val rig = new Rig(Seq("clicks", "orders"), failOnDataLoss = false)
    val clicks = stream("clicks", Created, 0 -> readUpTo(5))
    val offset = SourceOffset(Seq(clicks, stream("orders", Created - 1000, 9 -> readUpTo(5))))
    val mended = rig.check.mend(offset)
    assert(mended.streams(arn("clicks")) == clicks)
    val fresh = stream("orders", Created, 0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon)
    assert(mended.streams(arn("orders")) == fresh)
    assert(rig.lost == Seq("KINESIS_STREAM_RECREATED"))
    assert(rig.environment.recorded.all ==
      Vector(StreamRecreated(arn("orders"), Created - 1000, Created, endsQuery = false)))

    val listings = rig.listings
    assert(rig.check.mend(offset) == mended)
    assert(rig.check.mend(mended) eq mended)
    assert(rig.lost.size == 1 && rig.listings == listings)
  }

  test("a recreated stream all of whose records were read starts at its oldest record without a loss") {
    val rig = new Rig
    val offset = SourceOffset(Seq(stream("orders", Created - 1000, 9 -> readUpTo(5))))
    val mended = rig.check.mend(offset, wasDrained = _ == arn("orders"))
    assert(mended.streams(arn("orders")) ==
      stream("orders", Created, 0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon))
    assert(rig.lost.isEmpty && rig.environment.recorded.all ==
      Vector(StreamRecreated(arn("orders"), Created - 1000, Created, endsQuery = false)))
    assert(rig.check.mend(offset) == mended, "it is not reported later")
  }
}
