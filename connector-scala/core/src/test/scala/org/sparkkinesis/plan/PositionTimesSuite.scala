package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.StartingPosition.{AtSequenceNumber, AtTimestamp}
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Start}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

/** Every position of a planned batch has a time, so that a restart notices that records after it have expired. */
class PositionTimesSuite extends TimedSuite {
  private val arn = "arn"
  private val hour = IdleTime.Period
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)
  private def number(of: Int) = SequenceNumber(of.toString)

  /** The halves 0 and 1 of the hash keys are merged into 2, which is split into 3 and 4. */
  private val graph: ShardGraph = {
    val halves = HashKeyRange.uniform(2)
    def shard(index: Int, range: HashKeyRange, parents: Int*) =
      Shard(id(index), parents.headOption.map(id), parents.lift(1).map(id), range, number(1), None)
    ShardGraph.of(Seq(
      shard(0, halves(0)),
      shard(1, halves(1)),
      shard(2, HashKeyRange.Whole, 0, 1),
      shard(3, halves(0), 2),
      shard(4, halves(1), 2)
    ))
  }

  private def offset(since: (Int, Long)*)(shards: (Int, ShardPosition)*): SourceOffset =
    SourceOffset(Seq(StreamOffset(
      "orders",
      arn,
      1,
      shards.map { case (index, position) => id(index) -> position }.to(SortedMap),
      since = since.map { case (index, millis) => id(index) -> millis }.to(SortedMap)
    )))

  private def at(millis: Long): ShardPosition = Start(AtTimestamp(millis))

  /** The children of shard 2, whose parent was read until this time. They are read from their oldest records. */
  private def children(until: Long): SourceOffset = {
    val since = until - IdleTime.Margin
    offset(3 -> since, 4 -> since)(3 -> Horizon, 4 -> Horizon)
  }

  private def chunk(last: Int, arrival: Long): ChunkSummary =
    ChunkSummary(number(last), 1, 10, arrival, arrival, arrival, 0)

  private def fetched(until: Long, chunks: ChunkSummary*) = ShardAvailability(chunks.toVector, ended = false, until)
  private def closed(chunks: ChunkSummary*) = ShardAvailability(chunks.toVector, ended = true)

  private def plan(start: SourceOffset, known: (Int, ShardAvailability)*): SourceOffset =
    BatchPlanner.plan(start, _ => graph, of(known), ReadLimits.Unlimited).get.end

  private def settle(start: SourceOffset, known: (Int, ShardAvailability)*): SourceOffset =
    BatchPlanner.settle(start, _ => graph, of(known))

  private def of(known: Seq[(Int, ShardAvailability)])(shard: StreamShard): Option[ShardAvailability] =
    known.collectFirst { case (index, is) if id(index) == shard.shard => is }

  private def since(end: SourceOffset): SortedMap[ShardId, Long] = end.streams(arn).since

  test(
    "a finished shard has the time of its last record, and its children have unread records since shortly before it"
  ) {
    val first = plan(offset()(2 -> Horizon), 2 -> closed(chunk(5, 4 * hour), chunk(6, 5 * hour)))
    assert(first.streams(arn).shards == SortedMap(id(2) -> ShardEnd))
    assert(since(first) == SortedMap(id(2) -> 5 * hour))
    assert(settle(first) == children(5 * hour))
  }

  test("a shard that ends without a record has the time up to which it was read") {
    val other = 1 -> fetched(0, chunk(7, 9 * hour))
    val end = plan(offset()(0 -> After(number(3), 5 * hour), 1 -> at(6 * hour)), 0 -> closed(), other)
    assert(since(end) == SortedMap(id(0) -> 5 * hour))
    assert(since(plan(end, 1 -> fetched(0, chunk(8, 9 * hour)))) == since(end), "it stays until the children are added")
  }

  test(
    "the children of a shard have unread records since it was open last, also if its last record is much older"
  ) {
    val open = Some(9 * hour)
    val idle = ShardAvailability(Vector.empty, ended = true, childrenSinceMillis = open)
    val news = 1 -> fetched(0, chunk(7, 10 * hour))
    val end = plan(offset()(0 -> After(number(3), 5 * hour), 1 -> at(6 * hour)), 0 -> idle, news)
    assert(since(end) == SortedMap(id(0) -> 9 * hour))
    val read = plan(offset()(2 -> Horizon), 2 -> closed(chunk(5, 4 * hour)).copy(childrenSinceMillis = open))
    assert(since(read) == SortedMap(id(2) -> 9 * hour))
    assert(settle(read) == children(9 * hour))
    val later = plan(offset()(2 -> Horizon), 2 -> closed(chunk(5, 12 * hour)).copy(childrenSinceMillis = open))
    assert(since(later) == SortedMap(id(2) -> 12 * hour))
  }

  test("the time of a shard without new records does not pass the last time at which it is known to have been open") {
    // The shard may be closed, and its children may have older records than the time up to which it was read.
    def idle(openUpTo: Long) = ShardAvailability(Vector.empty, false, 20 * hour, openUpToMillis = openUpTo)
    val start = offset()(2 -> After(number(3), 5 * hour))
    assert(settle(start, 2 -> idle(9 * hour)) == offset()(2 -> After(number(3), 9 * hour - IdleTime.Margin)))
    assert(settle(start, 2 -> idle(30 * hour)) == offset()(2 -> After(number(3), 20 * hour - IdleTime.Margin)))
    assert(settle(start, 2 -> idle(0)) == start)
    assert(settle(offset()(2 -> Horizon), 2 -> idle(0)) == offset()(2 -> Horizon))
  }

  test("a shard with records that the batch leaves has the time of the first of them, also if it was never seen open") {
    // Every listing shows the shard as closed, and one answer has reached its tip without its end.
    def left(position: ShardPosition, readUpTo: Long = 9 * hour) = {
      val closed = ShardAvailability(Vector(chunk(5, 4 * hour)), ended = false, readUpTo, openUpToMillis = 0)
      val other = fetched(9 * hour, chunk(7, 9 * hour))
      val limits = ReadLimits.Unlimited.copy(maxRecords = Some(1))
      // The other shard is further behind, so that it takes the batch's only record.
      val known = Seq(1 -> closed, 0 -> other.copy(chunks = Vector(chunk(6, hour))))
      BatchPlanner.plan(offset()(0 -> Horizon, 1 -> position), _ => graph, of(known), limits).get.end.streams(arn)
    }
    assert(left(Horizon).shards(id(1)) == at(4 * hour) && left(Horizon).isTimed)
    assert(left(After(number(3), hour)).shards(id(1)) == After(number(3), 4 * hour - 1))
    assert(left(Start(AtSequenceNumber(number(3)))).since(id(1)) == 4 * hour)
    assert(!left(Horizon, readUpTo = 0).isTimed, "earlier records may be missing")
  }

  test("the child of a merge has unread records since the later of its parents' records") {
    val merged = settle(offset(0 -> 5 * hour, 1 -> 7 * hour)(0 -> ShardEnd, 1 -> ShardEnd))
    assert(merged == offset(2 -> (7 * hour - IdleTime.Margin))(2 -> Horizon))
  }

  test("a shard that no consumer has fetched has no time at the trim horizon") {
    val news = 0 -> fetched(0, chunk(5, 9 * hour))
    assert(!plan(offset()(0 -> Horizon, 1 -> Horizon), news).isTimed)
    val idle = plan(offset()(0 -> Horizon, 1 -> Horizon), news, 1 -> fetched(8 * hour))
    assert(idle.isTimed && idle.streams(arn).shards(id(1)) == at(8 * hour - IdleTime.Margin))
    val busy = plan(offset()(0 -> Horizon, 1 -> Horizon), news, 1 -> fetched(8 * hour, chunk(6, 4 * hour)))
    assert(busy.isTimed)
  }

  test("a shard that could not be fetched gets the time of the oldest record that the stream may have") {
    val end = plan(offset()(0 -> Horizon, 1 -> at(5 * hour)), 1 -> fetched(0, chunk(5, 9 * hour)))
    val timed = end.timed(_ => 2 * hour)
    assert(timed.isTimed && since(timed) == SortedMap(id(0) -> 2 * hour))
    assert(timed.streams(arn).shards == end.streams(arn).shards)
    assert(since(end.timed(_ => -5)) == SortedMap(id(0) -> 1L), "the stream was created at 1")
  }

  test("a position at a sequence number stays, with a time that rarely changes") {
    val start = Start(AtSequenceNumber(number(3)))
    assert(!offset()(1 -> start).isTimed)
    val read = settle(offset()(1 -> start), 1 -> fetched(5 * hour))
    assert(read == offset(1 -> (5 * hour - IdleTime.Margin))(1 -> start) && read.isTimed)
    assert(settle(read, 1 -> fetched(6 * hour)) == read)
    assert(since(settle(read, 1 -> fetched(7 * hour))) == SortedMap(id(1) -> (7 * hour - IdleTime.Margin)))
    assert(since(settle(read, 1 -> fetched(9 * hour, chunk(4, 8 * hour)))) == SortedMap(id(1) -> 8 * hour))
  }
}
