package org.sparkkinesis.spark.coordinator

import org.scalatest.funsuite.AnyFunSuite

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.ShardPosition
import org.sparkkinesis.spark.protocol.ShardReport

class ShardTrackSuite extends AnyFunSuite {
  private val shard = StreamShard("orders", ShardId.ofIndex(0))
  private def number(n: Int) = SequenceNumber(n.toString)
  private def after(n: Int) = Some(ShardPosition.After(number(n), 0))

  /** A chunk whose last record has this sequence number and whose first record arrived at this time. */
  private def chunk(last: Int, arrival: Long) =
    ChunkSummary(number(last), 10, 10, arrival, arrival + 5, arrival + 5, 0)

  private def track(chunks: Seq[ChunkSummary], behind: Long, ended: Boolean = false) = {
    val track = new ShardTrack(shard)
    val end = Option.when(ended)(Nil)
    track.accept(ShardReport(shard, 0, chunks.toVector, 1000, behind, end, None), replaces = false)
    track
  }

  test("the lag is the age of the oldest record that no batch has taken, else the service's last value") {
    val two = Seq(chunk(10, 1000), chunk(20, 4000))
    Seq(
      ("no record is planned", track(two, 0).lagMillis(None, 10000), Some(9000L)),
      ("a batch ended before all records", track(two, 0).lagMillis(Some(ShardPosition.Horizon), 10000), Some(9000L)),
      ("the first chunk is planned", track(two, 0).lagMillis(after(10), 10000), Some(6000L)),
      ("a part of the second chunk is planned", track(two, 0).lagMillis(after(15), 10000), Some(6000L)),
      ("every record is planned, and the service has more", track(two, 70).lagMillis(after(20), 10000), Some(70L)),
      ("every record is planned, and the service has no more", track(two, 0).lagMillis(after(20), 10000), Some(0L)),
      ("the lag is not negative if the clock is behind the service's", track(two, 0).lagMillis(None, 10), Some(0L)),
      ("an ended shard still has rows", track(two, 0, ended = true).lagMillis(after(10), 10000), Some(6000L)),
      ("an ended shard is planned completely", track(two, 0, ended = true).lagMillis(after(20), 10000), None),
      ("a finished shard", track(two, 0, ended = true).lagMillis(Some(ShardPosition.ShardEnd), 10000), None),
      ("no report has arrived", new ShardTrack(shard).lagMillis(None, 10000), None)
    ).foreach { case (situation, found, expected) => assert(found == expected, situation) }
  }
}
