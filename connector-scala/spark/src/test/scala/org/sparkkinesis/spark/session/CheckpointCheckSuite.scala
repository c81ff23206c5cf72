package org.sparkkinesis.spark.session

import scala.concurrent.duration._

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{DataLost, StreamRecreated}
import org.sparkkinesis.model.{Shard, ShardId}
import org.sparkkinesis.plan.offset.{LostLineage, ShardPosition, SourceOffset}
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}

class CheckpointCheckSuite extends SessionFixture {
  final private class Rig(
      names: Seq[String] = Seq("orders"),
      failOnDataLoss: Boolean = true,
      more: Map[String, String] = Map.empty
  ) extends SessionRig(names, failOnDataLoss, Map.empty, more)

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
    assert(mended.streams(arn("orders")) == fresh.timed(Created))
    assert(rig.lost == Seq("KINESIS_STREAM_RECREATED"))
    assert(rig.environment.recorded.all ==
      Vector(StreamRecreated(arn("orders"), Created - 1000, Created, endsQuery = false)))

    val listings = rig.listings
    assert(rig.check.mend(offset) == mended)
    assert(rig.check.mend(mended) eq mended)
    assert(rig.lost.size == 1 && rig.listings == listings)
  }

  test("shards of a recreated stream that were read already are reported if hash keys were filtered") {
    Seq(
      true -> Seq("KINESIS_STREAM_RECREATED", "KINESIS_DATA_LOSS"),
      false -> Seq("KINESIS_STREAM_RECREATED")
    ).foreach {
      case (filter, expected) =>
        val rig = new Rig(failOnDataLoss = false, more = Map("deaggregation.hashRangeFilter" -> filter.toString))
        val read = readUpTo(Created + 5)
        val offset = SourceOffset(Seq(stream("orders", Created - 1000, 0 -> read)))
        val mended = rig.check.mend(offset)
        assert(mended.streams(arn("orders")).shards == Map(id(0) -> read, id(1) -> ShardPosition.Horizon))
        assert(rig.lost == expected && rig.check.mend(offset) == mended && rig.lost == expected)
    }
  }

  test("a recreated stream is listed again while a shard is listed without its parent") {
    val rig = new Rig(failOnDataLoss = false)
    val children = shards(2).zip(Seq(1, 2)).map { case (shard, index) =>
      shard.copy(id = id(index), parent = Some(id(0)))
    }
    listing(rig, children, old +: children)
    val mended = rig.check.mend(SourceOffset(Seq(stream("orders", Created - 1000, 9 -> readUpTo(5)))))
    assert(mended.streams(arn("orders")) == stream("orders", Created, 0 -> ShardPosition.Horizon).timed(Created))
    assert(rig.listings == 2)
  }

  test("a lineage that a running query has lost is replaced by what is left of it, for the same offset also later") {
    val lineage = LostLineage(Set(ShardId.ofIndex(0), ShardId.ofIndex(1)), Set.empty, Set(ShardId.ofIndex(4)))
    val rig = new Rig(failOnDataLoss = false)
    val known = SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(5), 1 -> readUpTo(6))))
    val settled = stream("orders", Created, 0 -> ShardPosition.ShardEnd, 1 -> ShardPosition.ShardEnd)
    val whole = SourceOffset(Seq(stream("orders", Created, 4 -> ShardPosition.Horizon).timed(leftSince(rig))))
    assert(rig.check.link(known, isChosen = true) eq known)
    assert(rig.check.relink(known, known, Seq(settled -> lineage)) == whole)
    assert(rig.check.link(known, isChosen = true) == whole && rig.check.link(known) == whole)
    assert(rig.lost == Seq("KINESIS_DATA_LOSS", "KINESIS_DATA_LOSS") && rig.listings == 0)
    val reported = rig.environment.recorded.all.collect { case lost: DataLost => lost.shard }
    assert(reported.flatten == lineage.finished.toSeq.sorted)
  }

  test("a recreated stream all of whose records were read starts at its oldest record without a loss") {
    val rig = new Rig
    val offset = SourceOffset(Seq(stream("orders", Created - 1000, 9 -> readUpTo(5))))
    val mended = rig.check.mend(offset, wasDrained = _ == arn("orders"))
    assert(mended.streams(arn("orders")) ==
      stream("orders", Created, 0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon).timed(Created))
    assert(rig.lost.isEmpty && rig.environment.recorded.all ==
      Vector(StreamRecreated(arn("orders"), Created - 1000, Created, endsQuery = false)))
    assert(rig.check.mend(offset) == mended, "it is not reported later")
  }

  /** The time of what is left of a lost lineage: a minute after the oldest record of the stream. */
  private def leftSince(rig: Rig): Long = rig.session.oldestMillis(arn("orders")) + 1.minute.toMillis

  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private val read = SourceOffset(Seq(stream("orders", Created, 0 -> readUpTo(5))))
  private val old = shards(1).head
  private val child = old.copy(id = id(3), parent = Some(id(0)))

  /** The grandchildren of the shard of the offset. Nothing links them to it without the child. */
  private val grandchildren = shards(2).zip(Seq(6, 7)).map { case (shard, index) =>
    shard.copy(id = id(index), parent = Some(id(3)))
  }

  private def listing(rig: Rig, pages: Seq[Shard]*): Unit = {
    rig.service.listings.clear()
    rig.service.listings ++= pages.map(ShardPage(_, None))
  }

  test("a shard that expired unread together with its children is data loss, after several listings") {
    val rig = new Rig
    listing(rig, grandchildren)
    val error = intercept[KinesisConnectorException](rig.check.link(read))
    assert(error.condition == "KINESIS_DATA_LOSS")
    assert(error.parameters("shard") == id(0).value && error.parameters("stream") == "orders")
    assert(rig.listings == 4)
    assert(rig.environment.recorded.all.collect { case event: DataLost => event.endsQuery } == Vector(true))
  }

  test("if loss is allowed, a lost lineage continues with the oldest remaining shards and is reported once") {
    val rig = new Rig(failOnDataLoss = false)
    listing(rig, grandchildren)
    val linked = rig.check.link(read)
    val remaining = stream("orders", Created, 6 -> ShardPosition.Horizon, 7 -> ShardPosition.Horizon)
    assert(linked == SourceOffset(Seq(remaining.timed(leftSince(rig)))))
    val listings = rig.listings
    assert(rig.check.link(read) == linked && rig.check.link(linked) == linked)
    assert(rig.lost == Seq("KINESIS_DATA_LOSS") && rig.listings == listings)
  }

  test("a listing that lacks shards for a while is repeated, and nothing is lost") {
    val rig = new Rig
    listing(rig, grandchildren, old +: child +: grandchildren)
    assert(rig.check.link(read) == read)
    assert(rig.listings == 2 && rig.environment.recorded.all.isEmpty)
  }

  test("a shard that the service can read is not lost, even if no listing contains it") {
    val rig = new Rig
    listing(rig, grandchildren)
    rig.service.unlisted = Set(id(0))
    assert(rig.check.link(read) == read)
    assert(rig.environment.recorded.all.isEmpty)
  }

  test("shards whose parent exists are not what is left of a lost lineage, even if no listing contains the parent") {
    val rig = new Rig
    listing(rig, old +: grandchildren)
    rig.service.unlisted = Set(id(3))
    assert(rig.check.link(read) == read)
    assert(rig.environment.recorded.all.isEmpty)
  }
}
