package org.sparkkinesis.spark.coordinator.state

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.event.Losses
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ChildShard, SequenceNumber, Shard, ShardId, StreamShard}
import org.sparkkinesis.plan.AvailableNowTarget
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.{PrefetchView, ShardPlacement, ShardProgress}
import org.sparkkinesis.spark.protocol.{Register, Report, ShardReport}
import org.sparkkinesis.suite.TimedSuite

/** Tests that a closed shard which is read to its tip, but whose end is not reported, does not end a query. */
class OpenShardTimesSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val target = AvailableNowTarget(5000)
  private def id(index: Int) = ShardId.ofIndex(index.toLong)
  private def shard(index: Int) = StreamShard(arn, id(index))
  private def number(value: Int) = SequenceNumber(value.toString)

  /** Shard 0 was replaced by shard 1. */
  private val parent = Shard(id(0), None, None, HashKeyRange.Whole, number(1), None)
  private val closed = parent.copy(endingSequenceNumber = Some(number(999)))
  private val child = Shard(id(1), Some(id(0)), None, HashKeyRange.Whole, number(1000), None)

  /** One executor that reads a stream from shard 0. */
  final private class Rig {
    val state = new CoordinatorState(Seq(arn), SummaryBounds(1, 1, 1))
    private val progress = new ShardProgress(state, Losses.Strict, () => 0L)
    private val placement = new ShardPlacement(state, 0, () => 0L)
    var requests = 0
    val view = new PrefetchView(state, _.id, () => requests += 1)
    private var reports = 0L
    advance(0 -> ShardPosition.Horizon)
    list(nanos = 0, Seq(parent))
    placement.introduce(Register("1", "host", 1), new ConsumerPeer("1", "host", 1, "1:1", _ => ()))
    placement.assign()

    def advance(positions: (Int, ShardPosition)*): Unit = {
      val shards = positions.map { case (index, position) => id(index) -> position }.to(SortedMap)
      progress.advance(SourceOffset(Seq(StreamOffset("orders", arn, 1, shards))), Set.empty)
      ()
    }

    def list(nanos: Long, shards: Seq[Shard]): Unit =
      progress.listings.list(arn, shards, ListingTime(nanos, nanos * 1000))
    def mustList: Boolean = progress.listings.mustListAgain

    /** Reports a shard as read up to this time. */
    def tell(index: Int, upTo: Long, ended: Boolean = false, chunks: Vector[ChunkSummary] = Vector.empty): Unit = {
      reports += 1
      val end = Option.when(ended)(Seq(ChildShard(child.id, child.parents, child.hashKeyRange)))
      val open = if (chunks.isEmpty) upTo else 0
      val told = ShardReport(shard(index), state.tracks(shard(index)).epoch, chunks, 1, upTo, 0, end, None, open)
      progress.accept(Report("1", 1, reports, full = false, bufferIsFull = false, Set.empty, Seq(told), Map.empty))
      view.prove(view.unproven.keySet, System.nanoTime)
      placement.assign()
      ()
    }
  }

  test("a shard that is read to its tip is finished for the target if a later listing shows it as open") {
    val rig = new Rig
    rig.view.targets.requireOpenShards(10)
    rig.tell(0, upTo = 9000)
    assert(!rig.view.targets.isReached(target) && !rig.view.targets.everythingIsFetched(target), "the listing is older")
    assert(rig.mustList && rig.requests == 1)
    rig.list(nanos = 10, Seq(parent))
    assert(rig.view.targets.isReached(target) && rig.view.targets.everythingIsFetched(target) && !rig.mustList)
    // It was closed later, so its children have no records of the target.
    rig.list(nanos = 20, Seq(closed, child))
    assert(rig.view.targets.isReached(target))
    rig.view.targets.requireOpenShards(10)
    assert(rig.requests == 1)
  }

  test("a closed shard that is read to its tip is waited for, and then its children") {
    val rig = new Rig
    rig.view.targets.requireOpenShards(10)
    rig.list(nanos = 11, Seq(closed, child))
    rig.tell(0, upTo = 9000)
    assert(!rig.view.targets.isReached(target) && !rig.view.targets.everythingIsFetched(target))
    assert(!rig.mustList, "another listing shows nothing new")
    rig.tell(0, upTo = 9000, ended = true)
    assert(!rig.view.targets.isReached(target))
    rig.tell(1, upTo = 9000)
    assert(rig.view.targets.isReached(target) && rig.view.targets.everythingIsFetched(target))
  }

  test("children that the listing does not contain are listed again") {
    val rig = new Rig
    rig.view.targets.requireOpenShards(10)
    rig.list(nanos = 10, Seq(parent))
    rig.tell(0, upTo = 9000, ended = true)
    rig.tell(1, upTo = 9000)
    assert(rig.mustList && !rig.view.targets.isReached(target))
    rig.list(nanos = 20, Seq(closed, child))
    assert(!rig.mustList && rig.view.targets.isReached(target))
  }

  test("a record that arrived after the target shows that the shard was open") {
    val rig = new Rig
    rig.view.targets.requireOpenShards(10)
    rig.list(nanos = 10, Seq(closed, child))
    rig.tell(0, upTo = 9000, chunks = Vector(ChunkSummary(number(5), 1, 1, 6000, 6000, 6000, 0)))
    assert(rig.view.targets.isReached(target))
  }

  test("a stream is not drained before a listing shows its shards as open, or they are read to their end") {
    val rig = new Rig
    rig.list(nanos = 4, Seq(parent))
    rig.tell(0, upTo = 9000)
    assert(!rig.view.targets.isDrained(arn, target) && rig.requests == 1 && rig.mustList)
    rig.list(nanos = 5, Seq(parent))
    assert(rig.view.targets.isDrained(arn, target) && rig.requests == 1 && !rig.mustList)

    val resharded = new Rig
    resharded.list(nanos = 6, Seq(closed, child))
    resharded.tell(0, upTo = 9000)
    assert(!resharded.view.targets.isDrained(arn, target))
    resharded.tell(0, upTo = 9000, ended = true)
    resharded.tell(1, upTo = 9000)
    assert(resharded.view.targets.isDrained(arn, target))
  }

  test("a description must show that the stream without records is the known one") {
    val rig = new Rig
    rig.list(nanos = 5, Seq(parent))
    rig.tell(0, upTo = 9000)
    assert(rig.view.unproven.isEmpty && rig.view.requireProof(arn) && rig.view.unproven == Map(arn -> None))
    assert(!rig.view.targets.isDrained(arn, target) && !rig.view.targets.isReached(target))
    rig.view.prove(Set(arn), Long.MaxValue / 2, missing = Set(arn))
    assert(
      rig.view.unproven.isEmpty && rig.view.mayBeRecreated(arn),
      "it does not exist, and may have been recreated before"
    )
    assert(rig.view.requireProof(arn))
    rig.view.prove(Set(arn), Long.MaxValue / 2)
    assert(!rig.view.requireProof(arn) && !rig.view.mayBeRecreated(arn) && rig.view.unproven.isEmpty)
  }

  test("an answer without records shows a shard as open, one with its last records does not") {
    val record = Vector(ChunkSummary(number(5), 1, 1, 4000, 4000, 4000, 0))
    def told(answers: (Long, Boolean)*): Rig = {
      val rig = new Rig
      rig.view.targets.requireOpenShards(10)
      rig.list(nanos = 10, Seq(parent))
      answers.foreach { case (upTo, hasRecord) => rig.tell(0, upTo, chunks = if (hasRecord) record else Vector.empty) }
      rig.advance(0 -> ShardPosition.After(number(5), 4000))
      rig
    }
    Seq(
      Seq(6000L -> false) -> true,
      Seq(6000L -> true) -> false,
      Seq(6000L -> true, 7000L -> false) -> true,
      Seq(4000L -> true, 4900L -> false) -> false
    ).foreach { case (answers, isOver) =>
      val rig = told(answers: _*)
      assert(
        rig.view.targets.isReached(target) == isOver && rig.view.targets.everythingIsFetched(target) == isOver,
        answers
      )
    }
    // A listing is out of date, and the end of the shard comes late.
    val late = told(6000L -> true)
    late.tell(0, upTo = 7000, ended = true)
    assert(!late.view.targets.isReached(target))
    late.tell(1, upTo = 9000)
    late.list(nanos = 20, Seq(closed, child))
    assert(late.view.targets.isReached(target))
  }

  test("a closed shard does not open again, unless its stream was recreated") {
    val remade = parent.copy(startingSequenceNumber = number(2))
    def after(before: OpenShardTimes => Unit, last: Shard): OpenShardTimes = {
      val open = new OpenShardTimes
      open.list(arn, Seq(parent), ListingTime(1, 1000), _ => true)
      before(open)
      open.list(arn, Seq(last), ListingTime(3, 3000), _ => true)
      open.require(2)
      open
    }
    val listed = (open: OpenShardTimes) => open.list(arn, Seq(closed, child), ListingTime(2, 2000), _ => true)
    Seq[(String, OpenShardTimes => Unit, Shard, Boolean)](
      ("nothing closed it", _ => (), parent, true),
      ("a listing showed it as closed", listed, parent, false),
      ("a consumer read its end", _.end(shard(0)), parent, false),
      (
        "a listing that lacks it came between",
        open => { listed(open); open.list(arn, Nil, ListingTime(2, 2000), _ => true) },
        parent,
        false
      ),
      ("the stream was recreated", listed, remade, true),
      ("the stream was recreated after the end", _.end(shard(0)), remade, true)
    ).foreach { case (name, before, last, isOpen) =>
      val open = after(before, last)
      assert(open.wasOpen(shard(0)) == isOpen && open.isUndecided(shard(0)) == false, name)
      assert(open.lastOpenMillis(shard(0)).contains(if (isOpen) 3000L else 1000L), name)
    }
  }

  test("nothing is kept of shards that are neither listed nor read") {
    val open = new OpenShardTimes
    (1 to 1000).foreach { i =>
      val generation = Seq(closed.copy(id = id(i)), child.copy(id = id(i + 1)))
      open.list(arn, generation, ListingTime(i.toLong, i * 1000L), _ == shard(1))
    }
    assert(open.size == 3 && open.lastOpenMillis(shard(1001)).contains(1000000L))
  }

  test("only a new requirement asks for a listing") {
    val open = new OpenShardTimes
    assert(Seq(1L, 1L, 2L, 2L).map(open.require(_)) == Seq(true, false, true, false))
  }

  test("a shard is known to be open at the time of the last listing that shows it") {
    val open = new OpenShardTimes
    open.list(arn, Seq(parent), ListingTime(1, 1000), _ => true)
    open.list(arn, Nil, ListingTime(2, 2000), _ => true)
    assert(open.lastOpenMillis(shard(0)).contains(1000L) && open.lastOpenMillis(shard(1)).isEmpty)
    open.list(arn, Seq(closed, child), ListingTime(3, 3000), _ => true)
    assert(open.lastOpenMillis(shard(0)).contains(1000L) && open.lastOpenMillis(shard(1)).contains(3000L))
    open.remove(Seq(shard(0)))
    assert(open.lastOpenMillis(shard(0)).isEmpty)
    open.forget(Set(arn))
    assert(open.lastOpenMillis(shard(1)).isEmpty)
  }
}
