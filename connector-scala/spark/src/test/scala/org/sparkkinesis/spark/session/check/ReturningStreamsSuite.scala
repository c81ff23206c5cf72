package org.sparkkinesis.spark.session.check

import scala.concurrent.duration._

import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.{Retention, ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.service.ShardPage
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.session.SessionFixture
import org.sparkkinesis.spark.session.checkpoint.MemoryFiles

class ReturningStreamsSuite extends SessionFixture {

  /**
   * @param wantedSince
   *   since when the metadata log says that the parked stream is to be read again
   */
  final private class Rig(wantedSince: Option[Long] = None)
      extends SessionRig(Seq("clicks", "orders"), failOnDataLoss = false, Map.empty) {
    val retention = new RetentionCheck(session, new MemoryFiles)
    val returning = new ReturningStreams(session, check, retention, (_, _) => wantedSince)

    /** Returns the stream after it has returned from this phase. */
    def back(parked: StreamOffset, phase: StreamPhase): StreamOffset = returning.checked(
      SourceOffset(Seq(clicks, parked.copy(phase = phase))),
      SourceOffset(Seq(clicks, parked))
    ).streams(parked.arn)

    def lists(all: Seq[Shard]): Unit = {
      service.listings.clear()
      service.listings += ShardPage(all, None)
    }
  }

  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private val clicks = stream("clicks", Created, 0 -> readUpTo(ago(1.minute)), 1 -> readUpTo(ago(1.minute)))
  private def parkedAt(millis: Long): StreamPhase = StreamPhase.Parked(millis, isDrained = true)

  test("offsets in which no stream returns are not touched") {
    val rig = new Rig
    val offset = SourceOffset(Seq(clicks))
    assert(rig.returning.checked(offset, offset) eq offset)
    assert(rig.listings == 0)
  }

  test("descendants of shards that expired while their stream was parked are read, or reported as lost") {
    val rig = new Rig
    val old = shards(1).head
    rig.lists(Seq(old))
    val atEnd = stream("orders", Created, 0 -> ShardPosition.ShardEnd)
    rig.check.link(SourceOffset(Seq(atEnd)))
    // The stream is parked. Its shard and the children expire; the listing names the grandchildren only.
    rig.lists(shards(8).takeRight(2).zip(shards(2)).map { case (shard, range) =>
      shard.copy(parent = Some(id(3)), hashKeyRange = range.hashKeyRange, startingSequenceNumber = SequenceNumber("5"))
    })
    val back = rig.back(atEnd, parkedAt(ago(1.hour)))
    assert(back.shards.keySet == Set(id(6), id(7)))
    assert(rig.environment.losses.map(_.parameters("stream")).count(_ == "orders") == 1)
  }

  test("a stream that was recreated while it was parked is read from its oldest record") {
    val rig = new Rig
    val parked = stream("orders", Created, 0 -> readUpTo(ago(1.hour)), 1 -> readUpTo(ago(1.hour)))
    rig.service.add("orders", creationMillis = ago(1.minute))
    val back = rig.back(parked, StreamPhase.Parked(ago(1.hour), isDrained = false))
    assert(back.creationMillis == ago(1.minute))
    assert(back.shards.values.toSet == Set(ShardPosition.Horizon))
    assert(rig.lost == Seq("KINESIS_STREAM_RECREATED"))
  }

  test("a stream that was drained, recreated, and is read again after its retention period, has lost nothing") {
    val rig = new Rig
    val parked = stream("orders", Created, 0 -> readUpTo(ago(50.hours)), 1 -> readUpTo(ago(50.hours)))
    rig.service.add("orders", creationMillis = ago(40.hours))
    val back = rig.back(parked, parkedAt(ago(50.hours)))
    assert(back.creationMillis == ago(40.hours) && back.shards.values.toSet == Set(ShardPosition.Horizon))
    rig.time.advance(10.minutes)
    assert(rig.lost.isEmpty && Retention.lost(back, rig.retention.expiryMillis(arn("orders"))).isEmpty)
  }

  test("a stream that was deleted while it was parked is left to its consumers") {
    val rig = new Rig
    val parked = stream("orders", Created, 0 -> readUpTo(ago(1.hour)), 1 -> readUpTo(ago(1.hour)))
    rig.check.link(SourceOffset(Seq(parked)))
    rig.service.streams.remove("orders")
    assert(rig.back(parked, StreamPhase.Parked(ago(1.hour), isDrained = false)) == parked)
  }

  test("a stream that was drained, and is read again after its retention period, has lost nothing") {
    val rig = new Rig
    val idle = ShardPosition.Start(StartingPosition.AtTimestamp(ago(25.hours)))
    val parked = stream("orders", Created, 0 -> readUpTo(ago(25.hours)), 1 -> idle)
    val back = rig.back(parked, parkedAt(ago(25.hours)))
    assert(rig.lost.isEmpty)
    rig.time.advance(10.minutes)
    assert(Retention.lost(back, rig.retention.expiryMillis(arn("orders"))).isEmpty, "also at the first fetch")
    assert(back.shards(id(0)).resumeAt == parked.shards(id(0)).resumeAt)
    // The position of a time would exclude the records that arrived just after the oldest ones.
    assert(back.shards(id(1)) == ShardPosition.Horizon)
    rig.time.advance(2.hours)
    assert(Retention.lost(back, rig.retention.expiryMillis(arn("orders"))).size == 2, "times remain")
  }

  test("a drained stream has lost what expired after the query should read it again") {
    val parked = stream("orders", Created, 0 -> readUpTo(ago(50.hours)), 1 -> readUpTo(ago(50.hours)))
    Seq(None -> 0, Some(30.minutes) -> 0, Some(2.hours) -> 2, Some(40.hours) -> 2).foreach { case (wanted, lost) =>
      val rig = new Rig(wanted.map(ago(_)))
      val back = rig.back(parked, parkedAt(ago(50.hours)))
      assert(Retention.lost(back, rig.retention.expiryMillis(arn("orders"))).size == lost, wanted)
    }
  }

  test("a drained stream that was recreated has lost records if the query should read it before") {
    val parked = stream("orders", Created, 0 -> readUpTo(ago(50.hours)))
    Seq(
      Some(ago(1.hour)) -> false,
      Some(ago(3.hours)) -> true,
      // The stream could not be read although it should be, because it did not exist any more.
      Some(ago(50.hours)) -> false,
      None -> false
    ).foreach { case (wanted, isLost) =>
      val rig = new Rig(wanted)
      rig.service.add("orders", creationMillis = ago(2.hours))
      assert(rig.back(parked, parkedAt(ago(50.hours))).creationMillis == ago(2.hours))
      assert(rig.lost == (if (isLost) Seq("KINESIS_STREAM_RECREATED") else Nil), wanted)
    }
  }

  test("a stream that was not drained, and is read again after its retention period, has lost records") {
    val rig = new Rig
    val parked = stream("orders", Created, 0 -> readUpTo(ago(25.hours)), 1 -> readUpTo(ago(25.hours)))
    rig.back(parked, StreamPhase.Parked(ago(25.hours), isDrained = false))
    assert(rig.lost == Seq("KINESIS_DATA_LOSS"))
  }

  test("the retention period of a stream that returns is the present one") {
    val rig = new Rig
    rig.service.add("orders", creationMillis = Created, retentionHours = 168)
    val parked = stream("orders", Created, 0 -> readUpTo(ago(25.hours)), 1 -> readUpTo(ago(25.hours)))
    rig.back(parked, StreamPhase.Parked(ago(25.hours), isDrained = false))
    assert(rig.lost.isEmpty)
  }

  test("a stream that was dropped, and has joined again, is not compared with its parked position") {
    val rig = new Rig
    val parked = stream("orders", Created, 0 -> readUpTo(ago(25.hours)), 1 -> readUpTo(ago(25.hours)))
    val joined = stream("orders", Created, 0 -> ShardPosition.Horizon, 1 -> ShardPosition.Horizon)
    val before = SourceOffset(Seq(clicks, parked.copy(phase = StreamPhase.Parked(ago(25.hours), isDrained = false))))
    assert(rig.returning.checked(before, SourceOffset(Seq(clicks, joined))).streams(arn("orders")) == joined)
    assert(rig.lost.isEmpty)
  }
}
