package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings, SummaryBounds}
import org.sparkkinesis.config.Options
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.spark.protocol.ShardReport
import org.sparkkinesis.suite.TimedSuite

class ShardTrackSuite extends TimedSuite {
  private val shard = StreamShard("orders", ShardId.ofIndex(0))
  private def number(n: Int) = SequenceNumber(n.toString)
  private def after(n: Int) = Some(ShardPosition.After(number(n), 0))

  /** A chunk whose last record has this sequence number and whose first record arrived at this time. */
  private def chunk(last: Int, arrival: Long) =
    ChunkSummary(number(last), 10, 10, arrival, arrival + 5, arrival + 5, 0)

  private val bounds = SummaryBounds(100, 1000, 10000)
  private def track(chunks: Seq[ChunkSummary], behind: Long, ended: Boolean = false) = {
    val track = new ShardTrack(shard, bounds)
    val end = Option.when(ended)(Nil)
    track.accept(ShardReport(shard, 0, chunks.toVector, 1, 1000, behind, end, None), replaces = false)
    track
  }

  implicit private class Lag(track: ShardTrack) {
    def lagMillisAt(planned: Option[ShardPosition], nowMillis: Long): Option[Long] =
      track.lagMillis(planned, nowMillis, track.fetchedBehind(0, 0))
  }

  test("the lag grows with the age of the last answer if no answer comes for longer than usual") {
    val second = 1000000000L
    for ((behind, usualMillis) <- Seq(0L -> 10000L, 70L -> 10000L, 0L -> 60000L)) {
      val silent = track(Seq(chunk(10, 1000)), behind)
      silent.noteAnswer(100 * second)
      def fetched(seconds: Int) = silent.fetchedBehind((100 + seconds) * second, usualMillis)
      val age = if (usualMillis < 52000) 52000L else 0L
      assert(fetched(9) == Some(behind) && fetched(52) == Some(behind + age))
      assert(silent.lagMillis(after(10), 20000, fetched(52)) == Some(behind + age))
      assert(silent.lagMillis(None, 20000, fetched(52)) == Some(19000L), "a record waits")
      silent.noteAnswer(152 * second)
      assert(fetched(53) == Some(behind))
    }
    val ended = track(Nil, 0, ended = true)
    ended.noteAnswer(0)
    assert(ended.fetchedBehind(100 * second, 10000) == None)
  }

  test("the lag is the age of the oldest record that no batch has taken, else the service's last value") {
    val two = Seq(chunk(10, 1000), chunk(20, 14000))
    Seq(
      ("no record is planned", track(two, 0).lagMillisAt(None, 20000), Some(19000L)),
      ("a batch ended before all records", track(two, 0).lagMillisAt(Some(ShardPosition.Horizon), 20000), Some(19000L)),
      ("the first chunk is planned", track(two, 0).lagMillisAt(after(10), 20000), Some(6000L)),
      ("a part of the second chunk is planned", track(two, 0).lagMillisAt(after(15), 20000), Some(6000L)),
      ("every record is planned, and the service has more", track(two, 70).lagMillisAt(after(20), 10000), Some(70L)),
      ("every record is planned, and the service has no more", track(two, 0).lagMillisAt(after(20), 10000), Some(0L)),
      ("the lag is not negative if the clock is behind the service's", track(two, 0).lagMillisAt(None, 10), Some(0L)),
      ("an ended shard still has rows", track(two, 0, ended = true).lagMillisAt(after(10), 20000), Some(6000L)),
      ("an ended shard is planned completely", track(two, 0, ended = true).lagMillisAt(after(20), 10000), None),
      ("a finished shard", track(two, 0, ended = true).lagMillisAt(Some(ShardPosition.ShardEnd), 10000), None),
      ("no report has arrived", new ShardTrack(shard, bounds).lagMillisAt(None, 10000), None)
    ).foreach { case (situation, found, expected) => assert(found == expected, situation) }
  }

  test("a shard that was read to its end stays ended without its owner if every record is planned") {
    def lost(of: ShardTrack, planned: Option[Int] = None, endIsPlanned: Boolean = false): ShardTrack = {
      planned.foreach(last => of.dropPlanned(ShardPosition.After(number(last), 0)))
      of.lose(endIsPlanned)
      of
    }
    val one = Seq(chunk(10, 1000))
    assert(lost(track(Nil, 0, ended = true)).ended)
    assert(lost(track(one, 0, ended = true), planned = Some(10)).ended)
    assert(!lost(track(one, 0, ended = true)).ended, "a record is not planned")
    val planned = lost(track(one, 0, ended = true), endIsPlanned = true)
    assert(planned.ended && planned.chunks.isEmpty && planned.rows == 0, "the records are not dropped yet")
    assert(!lost(track(Nil, 0)).ended)
    val unproven = new ShardTrack(shard, bounds)
    unproven.assign("1", 1, ShardPosition.Horizon)
    unproven.accept(ShardReport(shard, 1, Vector.empty, 1, 1000, 0, Some(Nil), None), replaces = false)
    unproven.noteNews(1)
    assert(!lost(unproven, endIsPlanned = true).ended, "the stream may have been recreated")
  }

  /** Records at intervals of 250 ms, each in a separate answer, that no batch has taken. */
  private def slow(track: ShardTrack, seconds: Int): Unit = (1 to 4 * seconds).foreach { i =>
    val arrival = i * 250L
    val one = ChunkSummary(number(i), 1, 20, arrival, arrival, arrival, 0)
    track.accept(ShardReport(shard, 0, Vector(one), 1, arrival, 0, None, None), replaces = false)
  }

  test("the summaries of a slow shard grow with rows and time, not with the number of answers") {
    val decode = DecodeSettings.of(Options.defaults)
    val of = SummaryBounds.of(decode)
    Seq(60, 600, 6000).foreach { seconds =>
      val track = new ShardTrack(shard, of)
      slow(track, seconds)
      val rows = 4L * seconds
      val most = 1 + 2 * (rows / of.maxRows + 20 * rows / of.maxBytes + 1000L * seconds / of.maxMillis)
      assert(track.rows == rows && track.chunks.map(_.rows).sum == rows)
      assert(track.chunks.size <= most, s"after $seconds s")
      assert(track.lastReported.contains(number(rows.toInt)) && track.chunks.last.last == number(rows.toInt))
    }
  }

  test("1,000 slow shards and a batch of ten minutes need a fortieth of the reported summaries") {
    val decode = DecodeSettings.of(Options.defaults)
    val tracks = Vector.fill(1000)(new ShardTrack(shard, SummaryBounds.of(decode)))
    tracks.foreach(slow(_, 600))
    assert(tracks.map(_.rows).sum == 2400000L)
    assert(tracks.map(_.chunks.size).sum <= 2400000 / 40)
  }

  test("joined summaries respect the chunk size of a limited batch") {
    val track = new ShardTrack(shard, SummaryBounds(6, 1 << 20, 10000))
    slow(track, 60)
    assert(track.chunks.forall(_.rows <= 6) && track.rows == 240)
  }

  test("summaries are not joined across the end of a planned batch") {
    val track = new ShardTrack(shard, bounds)
    slow(track, 1)
    track.planned(ShardPosition.After(number(4), 1000))
    slow(track, 2)
    assert(track.chunks.map(chunk => chunk.last -> chunk.rows) == Seq(number(4) -> 4, number(8) -> 4))
    track.dropPlanned(ShardPosition.After(number(4), 1000))
    assert(track.chunks.map(_.last) == Seq(number(8)) && track.rows == 4)
  }

  test("a full report replaces joined summaries") {
    val track = new ShardTrack(shard, bounds)
    slow(track, 2)
    val all =
      Vector(ChunkSummary(number(4), 4, 80, 250, 1000, 1000, 0), ChunkSummary(number(8), 4, 80, 1250, 2000, 2000, 0))
    track.accept(ShardReport(shard, 0, all, 0, 2000, 0, None, None), replaces = true)
    assert(track.rows == 8 && track.chunks.map(_.rows).sum == 8)
  }

  test("a full report keeps records that its executor dropped before they were planned") {
    def full(chunks: ChunkSummary*) = ShardReport(shard, 0, chunks.toVector, 0, 3000, 0, Some(Nil), None)
    val (third, fourth) = (chunk(30, 2100), chunk(40, 2200))
    Seq(
      ("the executor dropped them", full(third), Seq(10, 20, 30)),
      ("the executor dropped all records", full(), Seq(10, 20)),
      ("the executor was not told", full(chunk(10, 1000), chunk(20, 2000), third, fourth), Seq(10, 20, 30, 40))
    ).foreach { case (situation, report, expected) =>
      val track = new ShardTrack(shard, SummaryBounds(10, 1000, 10000))
      track.accept(ShardReport(shard, 0, Vector(chunk(10, 1000), chunk(20, 2000)), 1, 2000, 0, None, None), false)
      assert(track.dropAhead().contains(number(20)))
      track.accept(report, replaces = true)
      assert(track.chunks.map(_.last) == expected.map(number), situation)
      assert(track.rows == 10L * expected.size, situation)
    }
  }

  test("summaries are not joined across records that the executor dropped") {
    val track = new ShardTrack(shard, bounds)
    slow(track, 1)
    track.dropAhead()
    slow(track, 2)
    assert(track.chunks.map(chunk => chunk.last -> chunk.rows) == Seq(number(4) -> 4, number(8) -> 4))
  }

  test("a new owner reports records again that the last one dropped before they were planned") {
    val told = track(Seq(chunk(10, 1000)), 0)
    told.dropAhead()
    told.assign("1", 2, ShardPosition.Horizon)
    told.accept(ShardReport(shard, 2, Vector(chunk(10, 1000)), 1, 2000, 0, None, None), replaces = true)
    assert(told.chunks.map(_.last) == Seq(number(10)))
  }

  test("a track knows the record that its first chunk follows, unless that may be another one") {
    val track = new ShardTrack(shard, bounds)
    track.assign("1", 1, ShardPosition.After(number(5), 0))
    track.accept(ShardReport(shard, 1, Vector(chunk(10, 1000), chunk(20, 20000)), 1, 1000, 0, None, None), false)
    assert(track.chunks.size == 2 && track.precededBy.contains(number(5)))
    track.dropPlanned(ShardPosition.After(number(7), 0))
    assert(track.precededBy.contains(number(5)), "the first chunk also contains the records 6 and 7")
    track.dropPlanned(ShardPosition.After(number(10), 0))
    assert(track.precededBy.contains(number(10)))
    track.lose()
    assert(track.precededBy.isEmpty)
    track.assign("2", 2, ShardPosition.Horizon)
    assert(track.precededBy.isEmpty)
  }

  test("the time up to which a shard was read survives a change of its owner") {
    def told(readUpTo: Long) = ShardReport(shard, 0, Vector.empty, 1, readUpTo, 0, None, None)
    val track = new ShardTrack(shard, bounds)
    assert(track.readBefore(after(10)) == None)
    track.accept(told(5000), replaces = false)
    assert(track.readBefore(after(10)) == Some(5000L))
    track.lose()
    assert(track.readBefore(Some(ShardPosition.After(number(10), 3000))) == Some(5000L))
    assert(track.readBefore(Some(ShardPosition.After(number(10), 7000))) == Some(7000L))
    assert(track.readBefore(Some(ShardPosition.Horizon)) == Some(5000L))
  }

  test("until its first answer, a shard was read up to the time of its position") {
    def told(readUpTo: Long) = ShardReport(shard, 0, Vector.empty, 1, readUpTo, 0, None, None)
    val track = new ShardTrack(shard, bounds, unreadSince = Some(2000))
    assert(track.isUnread && track.readBefore(after(10)).contains(2000L))
    track.accept(told(0), replaces = false)
    track.lose()
    assert(track.isUnread && track.readBefore(after(10)).contains(2000L))
    track.accept(told(5000), replaces = false)
    assert(!track.isUnread && track.readBefore(after(10)).contains(5000L))
  }

  test("after a change of its owner, a shard is read before its oldest record that was not planned") {
    def lost(planned: Option[Int]): Option[Long] = {
      val two = track(Seq(chunk(10, 1000), chunk(20, 14000)), 0)
      planned.foreach(n => two.planned(ShardPosition.After(number(n), 0)))
      two.lose()
      two.lose()
      two.readBefore(Some(ShardPosition.Horizon))
    }
    assert(lost(None) == Some(1000L))
    assert(lost(Some(10)) == Some(14000L))
    assert(lost(Some(20)) == Some(1000L), "the time up to which the shard was read")
  }
}
