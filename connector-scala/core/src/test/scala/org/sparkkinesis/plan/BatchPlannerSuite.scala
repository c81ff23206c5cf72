package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd}
import org.sparkkinesis.plan.offset.{IdleTime, Retention, ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

class BatchPlannerSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)

  private def shard(index: Int, parents: Int*): Shard = {
    val range = HashKeyRange.uniform(8)(index % 8)
    Shard(id(index), parents.headOption.map(id), parents.drop(1).headOption.map(id), range, SequenceNumber("1"), None)
  }

  /** A split of 0 into 1 and 2, of 1 into 3 and 4, and a merge of 4 and 2 into 5. */
  private val lineage: ShardGraph = {
    val whole = HashKeyRange.Whole
    val (low, high) = (HashKeyRange.uniform(2)(0), HashKeyRange.uniform(2)(1))
    val (q1, q2) = (HashKeyRange.uniform(4)(0), HashKeyRange.uniform(4)(1))
    def at(index: Int, range: HashKeyRange, parents: Int*) = shard(index, parents: _*).copy(hashKeyRange = range)
    ShardGraph.of(Seq(
      at(0, whole),
      at(1, low, 0),
      at(2, high, 0),
      at(3, q1, 1),
      at(4, q2, 1),
      at(5, HashKeyRange(q2.start, high.end), 4, 2)
    ))
  }

  private def chunk(last: Int, rows: Int = 10, bytes: Long = 100, arrival: Long = 1000): ChunkSummary =
    ChunkSummary(SequenceNumber(last.toString), rows, bytes, arrival, arrival, arrival, 0)

  private def after(last: Int, arrival: Long = 1000): ShardPosition = After(SequenceNumber(last.toString), arrival)

  private def offset(shards: (Int, ShardPosition)*): SourceOffset =
    SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))

  /** The positions of the end. PositionTimesSuite has the times. */
  private def plan(
      start: SourceOffset,
      available: Map[Int, ShardAvailability],
      limits: ReadLimits = ReadLimits.Unlimited,
      graph: ShardGraph = ShardGraph.Empty
  ): Option[SourceOffset] =
    end(start, available, limits, graph).map(end =>
      SourceOffset(end.streams.values.map(_.copy(begun = SortedMap.empty, since = SortedMap.empty)))
    )

  private def end(
      start: SourceOffset,
      available: Map[Int, ShardAvailability],
      limits: ReadLimits = ReadLimits.Unlimited,
      graph: ShardGraph = ShardGraph.Empty
  ): Option[SourceOffset] = BatchPlanner.plan(start, _ => graph, known(available), limits).map(_.end)

  private def known(available: Map[Int, ShardAvailability])(shard: StreamShard): Option[ShardAvailability] =
    available.collectFirst { case (i, a) if StreamShard(arn, id(i)) == shard => a }

  private def open(chunks: ChunkSummary*): ShardAvailability = ShardAvailability(chunks.toVector, ended = false)
  private def closed(chunks: ChunkSummary*): ShardAvailability = ShardAvailability(chunks.toVector, ended = true)

  test("the end contains the arrival of the first record of each shard that had no position") {
    val planned = end(
      offset(0 -> Horizon, 1 -> after(3), 2 -> Horizon),
      Map(0 -> open(chunk(5, arrival = 4000), chunk(6)), 1 -> open(chunk(7)), 2 -> open())
    )
    assert(planned.map(_.streams(arn).begun) == Some(SortedMap(id(0) -> 4000L)))
    val next = end(planned.get, Map(0 -> open(chunk(9))))
    assert(next.map(_.streams(arn).begun) == Some(SortedMap.empty[ShardId, Long]))
  }

  test("the end contains the arrival of the first record of each shard whose position is much older") {
    val hour = 3600000L
    val planned = end(
      offset(0 -> after(3), 1 -> after(3), 2 -> after(3)),
      Map(
        0 -> open(chunk(5, arrival = 1001 + hour), chunk(6, arrival = 2000 + hour)),
        1 -> open(chunk(5, arrival = 1000 + hour)),
        2 -> open()
      )
    )
    assert(planned.map(_.streams(arn).begun) == Some(SortedMap(id(0) -> (1001 + hour))))
  }

  test("the end contains the arrivals of all first records of a stream that returns with the batch") {
    val start = offset(0 -> after(3), 1 -> after(3), 2 -> after(3))
    def parked(phase: StreamPhase) = SourceOffset(start.streams.values.map(_.copy(phase = phase)))
    val available = Map(0 -> open(chunk(5, arrival = 1001)), 1 -> closed())
    val planned = BatchPlanner.plan(start, _ => ShardGraph.Empty, known(available), ReadLimits.Unlimited).get
    assert(planned.withArrivals(parked(StreamPhase.Active)) == planned && planned.end.streams(arn).begun.isEmpty)
    val returned = planned.withArrivals(parked(StreamPhase.Parked(2000, isDrained = true))).end.streams(arn)
    assert(returned == planned.end.streams(arn).copy(begun = SortedMap(id(0) -> 1001L)))
  }

  test("a batch knows when the first record of each shard arrived, also of those with a position") {
    val start = offset(0 -> Horizon, 1 -> after(3), 2 -> after(3), 3 -> after(3, arrival = 2000))
    val available = Map(
      0 -> open(chunk(5, arrival = 4000), chunk(6, arrival = 5000)),
      1 -> open(chunk(7, arrival = 6000)),
      2 -> open(),
      // A new owner has fetched records before the position again.
      3 -> open(chunk(8, arrival = 2000))
    )
    val planned = BatchPlanner.plan(start, _ => ShardGraph.Empty, known(available), ReadLimits(maxRecords = Some(30)))
    assert(planned.map(_.firstArrivals).contains(
      Map(0 -> 4000L, 1 -> 6000L).map { case (i, arrival) => StreamShard(arn, id(i)) -> arrival }
    ))
  }

  test("a batch knows when its first record arrived, also if that is the time of its position") {
    val start = offset(0 -> after(3, arrival = 2000), 1 -> after(3, arrival = 2000))
    val available = Map(
      0 -> open(chunk(8, arrival = 2000)).copy(precededBy = Some(SequenceNumber("3"))),
      1 -> open(chunk(8, arrival = 2000)).copy(precededBy = Some(SequenceNumber("2")))
    )
    val planned = BatchPlanner.plan(start, _ => ShardGraph.Empty, known(available), ReadLimits.Unlimited)
    assert(planned.map(_.firstArrivals).contains(Map(StreamShard(arn, id(0)) -> 2000L)))
  }

  test("a batch knows when its first record arrived, also after the time of the position was updated to that") {
    val arrival = 3 * 3600000L
    val available = Map(0 -> open(chunk(5, arrival = arrival)).copy(readUpToMillis = arrival))
    // The position of a shard whose records wait is updated up to the first of them.
    val waiting = BatchPlanner.settle(offset(0 -> after(3)), _ => ShardGraph.Empty, known(available))
    assert(waiting.streams(arn).readUntil(id(0)).contains(arrival - 1))
    val planned = BatchPlanner.plan(waiting, _ => ShardGraph.Empty, known(available), ReadLimits.Unlimited)
    assert(planned.map(_.firstArrivals).contains(Map(StreamShard(arn, id(0)) -> arrival)))
  }

  test("a batch knows the number of rows of shards whose rows are large") {
    val available = Map(
      0 -> open(chunk(5, rows = 3, bytes = 3 * 1000000), chunk(6, rows = 1, bytes = 1000000)),
      1 -> open(chunk(7, rows = 3, bytes = 3000)),
      2 -> open()
    )
    val start = offset(0 -> Horizon, 1 -> Horizon, 2 -> Horizon)
    val planned = BatchPlanner.plan(start, _ => ShardGraph.Empty, known(available), ReadLimits.Unlimited)
    assert(planned.map(_.largeRows).contains(Map(StreamShard(arn, id(0)) -> 4L)))
  }

  test("a batch knows the last records that it takes of finished shards") {
    val available =
      Map(0 -> closed(), 1 -> closed(chunk(5)), 2 -> open(), 3 -> open(chunk(6)), 4 -> closed(), 5 -> closed())
    val start = offset(0 -> Horizon, 1 -> Horizon, 2 -> Horizon, 3 -> Horizon, 4 -> after(3), 5 -> ShardEnd)
    val planned = BatchPlanner.plan(start, _ => ShardGraph.Empty, known(available), ReadLimits.Unlimited)
    // Shard 5 was finished after the last batch, which may end before its end.
    val finished = Map(0 -> None, 1 -> Some(SequenceNumber("5")), 4 -> None, 5 -> None)
    assert(planned.map(_.finished).contains(finished.map { case (i, last) => StreamShard(arn, id(i)) -> last }))
  }

  test("without records, idle shards get a later time and closed shards are replaced by their children") {
    val start = offset(0 -> after(3, 400000), 3 -> Horizon, 4 -> after(8))
    val available = Map(
      0 -> closed(chunk(2)),
      3 -> open().copy(readUpToMillis = 18000000L),
      4 -> open(chunk(9)).copy(readUpToMillis = 18000000L)
    )
    val settled = BatchPlanner.settle(start, _ => lineage, known(available))
    val idle = ShardPosition.Start(StartingPosition.AtTimestamp(17700000L))
    // Nothing in a child is older than what was read of its parent.
    assert(settled.streams(arn).since == SortedMap(id(1) -> 100000L, id(2) -> 100000L))
    val positions = SourceOffset(settled.streams.values.map(_.copy(since = SortedMap.empty)))
    assert(positions == offset(1 -> Horizon, 2 -> Horizon, 3 -> idle, 4 -> after(8)))
  }

  test("without chunks there is no batch") {
    assert(plan(offset(0 -> Horizon), Map(0 -> open())) == None)
    assert(plan(offset(0 -> Horizon), Map.empty) == None)
  }

  test("without limits all available chunks are planned") {
    val end =
      plan(offset(0 -> Horizon, 1 -> after(3)), Map(0 -> open(chunk(5), chunk(9)), 1 -> open(chunk(7, arrival = 2000))))
    assert(end == Some(offset(0 -> after(9), 1 -> after(7, 2000))))
  }

  test("a shard without new records keeps its position") {
    assert(
      plan(offset(0 -> Horizon, 1 -> after(3)), Map(0 -> open(chunk(5)))) ==
        Some(offset(0 -> after(5), 1 -> after(3)))
    )
  }

  test("a row limit is respected and shared") {
    val chunks = Map(0 -> open((1 to 9).map(chunk(_)): _*), 1 -> open((1 to 9).map(chunk(_)): _*))
    assert(
      plan(offset(0 -> Horizon, 1 -> Horizon), chunks, ReadLimits(maxRecords = Some(45))) ==
        Some(offset(0 -> after(2), 1 -> after(2)))
    )
  }

  test("a byte limit is respected, and shards use the unused share of others") {
    val chunks = Map(0 -> open((1 to 9).map(chunk(_)): _*), 1 -> open(chunk(1)))
    assert(
      plan(offset(0 -> Horizon, 1 -> Horizon), chunks, ReadLimits(maxBytes = Some(500))) ==
        Some(offset(0 -> after(4), 1 -> after(1)))
    )
  }

  test("with a limit below one chunk the batch takes one chunk of the shard that waited longest") {
    val chunks = Map(0 -> open(chunk(1, arrival = 500)), 1 -> open(chunk(1, arrival = 400)))
    assert(
      plan(offset(0 -> Horizon, 1 -> Horizon), chunks, ReadLimits(maxRecords = Some(1))) ==
        Some(offset(0 -> Horizon, 1 -> after(1, 400)))
    )
  }

  test("a shard that was read to its end is finished, and its children wait for the next batch") {
    val available = Map(0 -> closed(chunk(5)), 1 -> open(chunk(7)), 2 -> open(chunk(8)))
    val first = plan(offset(0 -> Horizon), available, graph = lineage)
    assert(first == Some(offset(0 -> ShardEnd)))
    val second = plan(first.get, available.updated(0, closed()), graph = lineage)
    assert(second == Some(offset(1 -> after(7), 2 -> after(8))))
  }

  test("children wait while a limit leaves a part of their parent unread") {
    val available = Map(0 -> closed(chunk(5), chunk(6)), 1 -> open(chunk(7)))
    assert(
      plan(offset(0 -> Horizon), available, ReadLimits(maxRecords = Some(10)), lineage) ==
        Some(offset(0 -> after(5)))
    )
  }

  test("children do not wait for closed ancestors without records") {
    val available = Map(0 -> closed(), 1 -> closed(), 2 -> open(chunk(8)), 3 -> open(chunk(9)))
    assert(
      plan(offset(0 -> after(5)), available, graph = lineage) ==
        Some(offset(2 -> after(8), 3 -> after(9), 4 -> Horizon))
    )
  }

  test("the end of a shard without records makes no batch") {
    assert(plan(offset(0 -> after(5)), Map(0 -> closed()), graph = lineage) == None)
  }

  test("the child of a merge waits for both parents") {
    val bothOpen = Map(4 -> closed(), 2 -> open(chunk(8)), 5 -> open(chunk(20)))
    assert(
      plan(offset(2 -> Horizon, 4 -> after(3)), bothOpen, graph = lineage) ==
        Some(offset(2 -> after(8), 4 -> ShardEnd))
    )
    val bothClosed = Map(4 -> closed(), 2 -> closed(), 5 -> open(chunk(20)))
    assert(plan(offset(2 -> after(8), 4 -> ShardEnd), bothClosed, graph = lineage) == Some(offset(5 -> after(20))))
  }

  test("the child of a merge waits for a parent that is not present yet") {
    // Shard 2 is finished, but 4 is still to be created from 1.
    val available = Map(1 -> open(chunk(7)), 2 -> closed(), 5 -> open(chunk(20)))
    assert(
      plan(offset(1 -> Horizon, 2 -> after(8)), available, graph = lineage) ==
        Some(offset(1 -> after(7), 2 -> ShardEnd))
    )
  }

  test(
    "the child of a merge waits for a parent of which only the name is known, until listings have it or not"
  ) {
    // Shard 2 was read to its end, which reported 5. The split of 1 into 3 and 4 is not known yet.
    val shards = (0 to 5).map(i => Shard(id(i), None, None, lineage.range(id(i)).get, SequenceNumber("1"), None))
    val listed = shards.map(s =>
      s.copy(parent = lineage.parents(s.id).headOption, adjacentParent = lineage.parents(s.id).lift(1))
    )
    val told =
      ShardGraph.of(listed.take(3)).withChildren(Seq(ChildShard(id(5), Seq(4, 2).map(id), shards(5).hashKeyRange)))
    val (start, merged) = (offset(1 -> after(7), 2 -> after(8)), Map(2 -> closed(chunk(9)), 5 -> open(chunk(20))))
    val waiting = offset(1 -> after(7), 2 -> ShardEnd)
    assert(plan(start, merged, graph = told) == Some(waiting))
    val next = merged.updated(2, closed())
    assert(plan(waiting, next, graph = told) == None)
    assert(plan(waiting, next, graph = told.withListing(listed)) == None, "4 comes from 1, which is open")
    val expired = Iterator.iterate(told)(_.withListing(listed.takeRight(1))).drop(ShardGraph.Omissions).next()
    assert(plan(waiting, next, graph = expired) == Some(offset(1 -> after(7), 5 -> after(20))), "4 has expired")
  }

  test("planning a shard after a hundred splits and merges visits each ancestor once") {
    val generations = (0 until 100).flatMap { g =>
      val (merged, low, high) = (3 * g, 3 * g + 1, 3 * g + 2)
      val first = if (g == 0) shard(merged) else shard(merged, merged - 2, merged - 1)
      Seq(first, shard(low, merged), shard(high, merged))
    }
    val end =
      plan(offset(298 -> Horizon, 299 -> Horizon), Map(298 -> open(chunk(5))), graph = ShardGraph.of(generations))
    assert(end == Some(offset(298 -> after(5), 299 -> Horizon)))
  }

  test("a finished shard is not removed while only some of its children are known") {
    val half = ShardGraph.of(Seq(
      shard(0).copy(hashKeyRange = HashKeyRange.Whole),
      shard(1, 0).copy(hashKeyRange = HashKeyRange.uniform(2).head)
    ))
    val end = plan(offset(0 -> ShardEnd), Map(0 -> closed(), 1 -> open(chunk(7))), graph = half)
    assert(end == Some(offset(0 -> ShardEnd, 1 -> after(7))))
  }

  test("planning is deterministic") {
    val available = Map(
      0 -> open((1 to 5).map(i => chunk(i, rows = i)): _*),
      1 -> open((1 to 5).map(i => chunk(i, rows = 6 - i)): _*)
    )
    val limits = ReadLimits(maxRecords = Some(11))
    val start = offset(0 -> Horizon, 1 -> Horizon)
    assert(plan(start, available, limits) == plan(start, available, limits))
  }

  test("consecutive batches with a limit take every chunk once") {
    val all = Map(0 -> (1 to 50).map(chunk(_)), 1 -> (1 to 7).map(chunk(_)), 2 -> (1 to 23).map(chunk(_)))
    def left(at: SourceOffset): Map[Int, ShardAvailability] = all.map { case (i, chunks) =>
      val position = at.streams(arn).shards(id(i))
      i -> ShardAvailability(
        chunks.dropWhile(c =>
          position match {
            case After(number, _) => c.last <= number
            case _ => false
          }
        ),
        ended = false
      )
    }
    val start = offset(0 -> Horizon, 1 -> Horizon, 2 -> Horizon)
    val ends = Iterator.unfold(start)(at =>
      plan(at, left(at), ReadLimits(maxRecords = Some(70))).map(end => (end, end))
    ).toVector
    assert(ends.last == offset(0 -> after(50), 1 -> after(7), 2 -> after(23)))
    assert(ends.size == 12)
  }

  test("the next offset has a later time for a shard that was idle for long, and for no other shard") {
    val hour = IdleTime.Period
    val idle = ShardAvailability(Vector.empty, ended = false, readUpToMillis = 5 * hour)
    val lately = ShardAvailability(Vector.empty, ended = false, readUpToMillis = 1000 + hour / 2)
    val end = plan(offset(0 -> Horizon, 1 -> after(3), 2 -> after(4)), Map(0 -> open(chunk(5)), 1 -> idle, 2 -> lately))
    assert(end == Some(offset(0 -> after(5), 1 -> after(3, 5 * hour - IdleTime.Margin), 2 -> after(4))))
  }

  test("positions whose next records may have expired are returned") {
    val start = ShardPosition.Start(StartingPosition.AtTimestamp(500))
    val found = Retention.lost(
      offset(0 -> after(3, 999), 1 -> after(4, 1000), 2 -> start, 3 -> Horizon, 4 -> ShardEnd).streams(arn),
      1000
    )
    assert(found == Seq(id(0) -> 999L, id(2) -> 500L))
  }
}
