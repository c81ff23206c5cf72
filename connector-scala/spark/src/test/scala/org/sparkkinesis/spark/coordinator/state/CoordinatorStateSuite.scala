package org.sparkkinesis.spark.coordinator.state

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, Shard, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.protocol.ShardReport
import org.sparkkinesis.suite.TimedSuite

class CoordinatorStateSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val bounds = SummaryBounds(100, 1000, 10000)
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def after(arrival: Long): ShardPosition = ShardPosition.After(SequenceNumber("7"), arrival)

  /** Shards 0 and 1 were merged into 2. */
  private val shards = Seq(
    Shard(id(0), None, None, HashKeyRange.uniform(2)(0), SequenceNumber("1"), None),
    Shard(id(1), None, None, HashKeyRange.uniform(2)(1), SequenceNumber("1"), None),
    Shard(id(2), Some(id(0)), Some(id(1)), HashKeyRange.Whole, SequenceNumber("1"), None)
  )
  private val merged = ShardGraph.of(shards)

  private def unreadSince(
      shard: Int,
      positions: Map[Int, ShardPosition],
      since: Map[Int, Long] = Map.empty,
      tracks: Seq[ShardTrack] = Nil,
      openAt: Map[Int, Long] = Map.empty
  ): Option[Long] = {
    val state = new CoordinatorState(Seq(arn), bounds)
    openAt.foreach { case (index, millis) =>
      state.openShards.list(arn, shards.slice(index, index + 1), ListingTime(0, millis), _ => true)
    }
    state.graphs = Map(arn -> merged)
    val at = positions.map { case (i, position) => id(i) -> position }.to(SortedMap)
    val times = since.map { case (i, millis) => id(i) -> millis }.to(SortedMap)
    state.moveTo(SourceOffset(Seq(StreamOffset("orders", arn, 1, at, since = times))))
    tracks.foreach(track => state.tracks(track.shard) = track)
    state.unreadSince(StreamShard(arn, id(shard)))
  }

  private def track(shard: Int, unreadSince: Option[Long], lastArrival: Option[Long] = None): ShardTrack = {
    val track = new ShardTrack(StreamShard(arn, id(shard)), bounds, unreadSince)
    lastArrival.foreach { arrival =>
      val chunk = ChunkSummary(SequenceNumber("9"), 1, 1, arrival - 5, arrival, arrival, 0)
      track.accept(ShardReport(track.shard, 0, Vector(chunk), 1, arrival, 1, None, None), replaces = false)
    }
    track
  }

  test("the records of a shard are unread since the time of its position") {
    val (timed, horizon) = (ShardPosition.Start(StartingPosition.AtTimestamp(3000)), ShardPosition.Horizon)
    assert(unreadSince(0, Map(0 -> after(5000))).contains(5000L))
    assert(unreadSince(0, Map(0 -> timed)).contains(3000L))
    assert(unreadSince(0, Map(0 -> horizon), since = Map(0 -> 2000L)).contains(2000L))
    assert(unreadSince(0, Map(0 -> horizon)).isEmpty)
  }

  test("the records of a child are unread since the last records of its parents, where they are known") {
    val ended = Map[Int, ShardPosition](0 -> ShardPosition.ShardEnd, 1 -> ShardPosition.ShardEnd)
    val reading = Map(0 -> after(5000), 1 -> after(6000))
    assert(unreadSince(2, ended, since = Map(0 -> 4000L)).contains(4000L))
    assert(unreadSince(2, reading).contains(6000L))
    assert(unreadSince(2, reading, tracks = Seq(track(0, None, Some(9000)))).contains(9000L))
    assert(unreadSince(2, Map(0 -> ShardPosition.ShardEnd), tracks = Seq(track(1, Some(7000)))).contains(7000L))
    assert(unreadSince(2, ended).isEmpty)
  }

  test(
    "the records of a child arrived after a listing showed a parent as open, also if its last record is much older"
  ) {
    val (listed, margin) = (1000000000L, 5 * 60 * 1000L)
    val reading = Map(0 -> after(5000))
    val parent = track(0, None, Some(9000))
    assert(unreadSince(2, reading, tracks = Seq(parent), openAt = Map(0 -> listed)).contains(listed - margin))
    // The service may report a closed shard as read to its tip.
    parent.accept(ShardReport(parent.shard, 0, Vector.empty, 1, listed, 0, None, None), replaces = false)
    assert(unreadSince(2, reading, tracks = Seq(parent)).contains(9000L))
  }
}
