package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.event.Losses
import org.sparkkinesis.model.{ChildShard, SequenceNumber, Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.connection.FakeDirectory.{arn, shards}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState, Overtaken}
import org.sparkkinesis.spark.protocol.{Register, Report, ShardReport}
import org.sparkkinesis.suite.TimedSuite

class ShardProgressSuite extends TimedSuite {
  private val orders = arn("orders")
  private val shard = StreamShard(orders, ShardId.ofIndex(0))

  final private class Rig {
    val state = new CoordinatorState(Seq(orders), SummaryBounds(1, 1, 1))
    val progress = new ShardProgress(state, Losses.Strict, () => 0L)
    def advance(phase: StreamPhase): Unit = {
      val stream = StreamOffset("orders", orders, 1, SortedMap.empty[ShardId, Nothing], phase = phase)
      progress.advance(SourceOffset(Seq(stream)), Set.empty)
      ()
    }
  }

  /** Counts how often its elements are read. */
  final private class Counted(all: Seq[Shard]) extends scala.collection.immutable.AbstractSeq[Shard] {
    var reads = 0
    override def apply(index: Int): Shard = all(index)
    override def length: Int = all.size
    override def iterator: Iterator[Shard] = {
      reads += 1
      all.iterator
    }
  }

  test("shards that are known already are not added again at each poll") {
    val rig = new Rig
    val listed = new Counted(shards(4))
    rig.progress.listings.know(orders, listed)
    val reads = listed.reads
    assert(reads > 0 && rig.state.graphs(orders).range(ShardId.ofIndex(3)).nonEmpty)
    (1 to 100).foreach(_ => rig.progress.listings.know(orders, listed))
    assert(listed.reads == reads)
    rig.progress.listings.know(orders, shards(5))
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(4)).nonEmpty)
  }

  test("the shards of a stream that returns are added again") {
    val rig = new Rig
    val listed = new Counted(shards(4))
    rig.progress.listings.know(orders, listed)
    rig.advance(StreamPhase.Parked(5, isDrained = true))
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(3)).isEmpty)
    rig.progress.listings.know(orders, listed)
    assert(rig.state.graphs(orders).range(ShardId.ofIndex(3)).nonEmpty)
  }

  test("a stream is another one if it is read and has another creation time, not while it is parked") {
    val rig = new Rig
    rig.advance(StreamPhase.Active)
    def other(phase: StreamPhase) =
      SourceOffset(Seq(StreamOffset("orders", orders, 2, SortedMap.empty[ShardId, Nothing], phase = phase)))
    assert(rig.progress.recreated(other(StreamPhase.Active)) == Set(orders))
    assert(rig.progress.recreated(other(StreamPhase.Parked(5, isDrained = true))).isEmpty)
  }

  test("a shard that is fetched more than 24 hours behind is noted, as of the time when it was most behind") {
    val rig = new Rig
    Seq(24.hours -> 1L, 30.hours -> 2L, 25.hours -> 3L).foreach { case (behind, until) =>
      rig.state.readLate(Overtaken(shard, until, behind.toMillis))
    }
    assert(rig.state.overtaken.all == Seq(Overtaken(shard, 2, 30.hours.toMillis)))
  }

  test("a shard with an answer that is only its end is late, if its records expired before that") {
    val day = 24.hours.toMillis
    for (moves <- Seq(true, false); (age, isLate) <- Seq(day - 1 -> false, day + 1 -> true)) {
      val reports = new Reports
      import reports._
      join("1")
      tell("1", report.copy(chunks = Vector(chunk("9", 4000)), readUpToMillis = 5000))
      // Another executor begins with the records of the chunk again.
      val until = if (moves) 4000L else 5000L
      now = until + age
      if (moves) {
        placement.lose("1")
        join("2")
      }
      val owner = if (moves) "2" else "1"
      tell(owner, report.copy(end = Some(Nil)))
      assert(state.overtaken.all == (if (isLate) Seq(Overtaken(shard, until, age)) else Nil))
      now += day
      tell(owner, report.copy(end = Some(Nil)))
      // A full report repeats also how far the shard was read.
      if (!moves) tell(owner, report.copy(readUpToMillis = 5000, end = Some(Nil)))
      assert(state.overtaken.all.forall(_.behindMillis == age), "a report that repeats the end")
    }
  }

  test("a shard without an answer is late as of the time that the first batch has for it") {
    val end = timedAt(4000)
    val other = SourceOffset(end.read.map(_.copy(creationMillis = 2)).toSeq)
    Seq[(String, Reports => Unit, Seq[Long])](
      ("no batch", _ => (), Nil),
      ("the batch is planned", _.progress.notePlanned(end), Seq(4000)),
      ("the batch is of a recreated stream", _.progress.notePlanned(other), Nil),
      ("its records are read", _.progress.advance(end, Set.empty): Unit, Seq(4000))
    ).foreach { case (situation, act, late) =>
      val reports = new Reports
      import reports._
      join("1")
      act(reports)
      now = 4001 + 24.hours.toMillis
      tell("1", report.copy(readUpToMillis = 5000))
      assert(state.overtaken.all.map(_.untilMillis) == late, situation)
    }
  }

  test("the oldest records may expire for an hour until the first answer of a shard to which a batch gave a time") {
    val hour = 1.hour.toMillis
    for (after <- Seq(1L, hour + 1); restarts <- Seq(false, true)) {
      val reports = new Reports
      import reports._
      join("1")
      val view = new PrefetchView(state, _.id, () => ())
      val timed = if (restarts) timedAt(4000) else view.timed(offset(ShardPosition.Horizon), _ => 4000L)
      assert(timed == timedAt(4000))
      progress.notePlanned(timed)
      now = 4000 + 24.hours.toMillis + after
      tell("1", report.copy(readUpToMillis = 5000))
      val late = if (restarts) Seq(4000L) else if (after > hour) Seq(4000 + hour) else Nil
      assert(state.overtaken.all.map(_.untilMillis) == late)
    }
  }

  test("a shard is late if the arrival of a record shows that the driver's time is too early") {
    val reports = new Reports
    import reports._
    join("1")
    tell("1", report.copy(chunks = Vector(chunk("9", 4000)), readUpToMillis = 4000))
    val arrival = 4001 + 24.hours.toMillis
    tell("1", report.copy(chunks = Vector(chunk("10", arrival)), readUpToMillis = arrival))
    assert(state.overtaken.all == Seq(Overtaken(shard, 4000, arrival - 4000)))
  }

  test("a lost executor's shard needs no other owner if the planned batch reads it to its end") {
    val end = offset(ShardPosition.ShardEnd)
    Seq(
      "nothing is planned" -> None -> true,
      "a part is planned" -> Some(offset(ShardPosition.After(SequenceNumber("5"), 0))) -> true,
      "the end is planned" -> Some(end) -> false,
      "the end lacks the shard" -> Some(SourceOffset(end.read.map(_.copy(shards = SortedMap.empty)).toSeq)) -> true,
      "the stream was recreated" -> Some(SourceOffset(end.read.map(_.copy(creationMillis = 2)).toSeq)) -> true,
      "the end lacks the stream" -> Some(SourceOffset(Nil)) -> true
    ).foreach { case ((situation, planned), isReadAgain) =>
      val reports = new Reports
      import reports._
      join("1")
      tell("1", report.copy(chunks = Vector(chunk("9", 4000)), readUpToMillis = 5000, end = Some(Nil)))
      state.tracks(shard).prove(state.clock.nanoTime)
      planned.foreach(progress.notePlanned)
      placement.lose("1")
      join("2")
      assert(state.tracks(shard).owner.contains("2") == isReadAgain, situation)
    }
  }

  test(
    "a shard of which a batch has planned nothing is read again, although it is not in the end of an earlier batch"
  ) {
    val reports = new Reports
    import reports._
    val child = StreamShard(orders, ShardId.ofIndex(1))
    join("1")
    tell("1", report.copy(readUpToMillis = 5000, end = Some(Nil)))
    progress.notePlanned(offset(ShardPosition.ShardEnd))
    progress.advance(offset(ShardPosition.ShardEnd), Set.empty)
    // The children begin before another batch is planned.
    progress.advance(offset(ShardPosition.Horizon, child), Set.empty)
    placement.assign()
    tell("1", reportOf(child).copy(chunks = Vector(chunk("9", 4000)), readUpToMillis = 5000, end = Some(Nil)))
    state.tracks(child).prove(state.clock.nanoTime)
    placement.lose("1")
    join("2")
    assert(state.tracks(child).owner.contains("2"))
  }

  test("what is known of a child stays while its parent is read again, until a batch has read the parent to its end") {
    val reports = new Reports
    import reports._
    val child = StreamShard(orders, ShardId.ofIndex(1))
    val children = Seq(ChildShard(child.shard, Seq(shard.shard), shards(1).head.hashKeyRange))
    join("1")
    tell("1", report.copy(readUpToMillis = 5000, end = Some(children)))
    placement.assign()
    tell("1", reportOf(child).copy(chunks = Vector(chunk("9", 4000)), readUpToMillis = 5000))
    placement.lose("1")
    join("2")
    assert(state.tracks(shard).owner.contains("2") && !state.wanted().exists(_._1 == child))
    assert(state.tracks(child).owner.isEmpty && state.tracks(child).lacksLostRecords)
    tell("2", report.copy(readUpToMillis = 6000, end = Some(children)))
    placement.assign()
    assert(state.tracks(child).owner.contains("2"))
    val grandchild = StreamShard(orders, ShardId.ofIndex(2))
    val ofChild = Seq(ChildShard(grandchild.shard, Seq(child.shard), shards(1).head.hashKeyRange))
    tell("2", reportOf(child).copy(readUpToMillis = 6000, end = Some(ofChild)))
    progress.advance(offset(ShardPosition.Horizon, grandchild), Set.empty)
    placement.assign()
    assert(!state.tracks.contains(child))
  }

  private def offset(position: ShardPosition, of: StreamShard = shard): SourceOffset =
    SourceOffset(Seq(StreamOffset("orders", orders, 1, SortedMap(of.shard -> position))))

  /** The end of a batch that gave this time to a shard without an answer. */
  private def timedAt(millis: Long): SourceOffset =
    SourceOffset(offset(ShardPosition.Horizon).read.map(_.copy(since = SortedMap(shard.shard -> millis))).toSeq)

  /** A shard that is read from its oldest record, and executors that report about it. */
  private class Reports {
    var now = 5000L
    val state = new CoordinatorState(Seq(orders), SummaryBounds(1, 1, 1))
    val progress = new ShardProgress(state, Losses.Strict, () => now)
    val placement = new ShardPlacement(state, 0, () => now)
    private var told = Map.empty[String, Long].withDefaultValue(0L)
    progress.advance(offset(ShardPosition.Horizon), Set.empty)
    progress.listings.list(orders, shards(1), ListingTime(0, 0))

    def join(id: String): Unit = {
      placement.introduce(Register(id, "host", 1), new ConsumerPeer(id, "host", 1, id, _ => ())): Unit
      placement.assign()
      ()
    }

    def report: ShardReport = reportOf(shard)
    def reportOf(shard: StreamShard): ShardReport =
      ShardReport(shard, state.tracks(shard).epoch, Vector.empty, 1, 0, 0, None, None)

    /** A chunk of one record. */
    def chunk(number: String, arrival: Long): ChunkSummary =
      ChunkSummary(SequenceNumber(number), 1, 1, arrival, arrival, arrival, 0)

    def tell(id: String, shard: ShardReport): Unit = {
      told += id -> (told(id) + 1)
      progress.accept(Report(id, 1, told(id), full = false, bufferIsFull = false, Set.empty, Seq(shard), Map.empty))
      ()
    }
  }
}
