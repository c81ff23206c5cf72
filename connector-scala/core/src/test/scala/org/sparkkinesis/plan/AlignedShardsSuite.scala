package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap

import org.scalacheck.Gen

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition}
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.PropertySuite

/** Tests that shards which are ahead wait for shards which are behind. */
class AlignedShardsSuite extends PropertySuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"
  private val Ahead = 1000L
  private val limits = ReadLimits(maxAheadMillis = Some(Ahead))
  private def id(index: Int): ShardId = ShardId.ofIndex(index.toLong)

  private def chunk(last: Int, first: Long, newest: Long): ChunkSummary =
    ChunkSummary(SequenceNumber(last.toString), 10, 100, first, newest, newest, 0)

  private def offset(shards: (Int, ShardPosition)*): SourceOffset =
    SourceOffset(Seq(StreamOffset("orders", arn, 1, shards.map { case (i, p) => id(i) -> p }.to(SortedMap))))

  private def open(readUpTo: Long, chunks: ChunkSummary*) = ShardAvailability(chunks.toVector, false, readUpTo)

  /** The number of chunks that a batch takes of each shard. */
  private def taken(start: SourceOffset, shards: (Int, ShardAvailability)*): Map[Int, Int] =
    taken(start, limits)(shards: _*)

  private def taken(start: SourceOffset, within: ReadLimits)(shards: (Int, ShardAvailability)*): Map[Int, Int] =
    BatchPlanner.plan(
      start,
      _ => ShardGraph.Empty,
      shard =>
        shards.collectFirst {
          case (i, known) if id(i) == shard.shard => known
        },
      within
    ).fold(Map.empty[Int, Int]) { batch =>
      shards.flatMap { case (i, known) =>
        batch.end.streams(arn).shards.get(id(i)).collect { case After(number, _) =>
          i -> (known.chunks.indexWhere(_.last == number) + 1)
        }.filter(_._2 > 0)
      }.toMap
    }

  private val bothAtHorizon = offset(0 -> Horizon, 1 -> Horizon)

  test("a shard waits with records that arrived too long after the time up to which another shard was fetched") {
    val ahead = open(9000, chunk(1, 5000, 5100), chunk(2, 6000, 6000), chunk(3, 6001, 6001))
    assert(taken(bothAtHorizon, 0 -> ahead, 1 -> open(5000, chunk(1, 5000, 5000))) == Map(0 -> 2, 1 -> 1))
    assert(taken(bothAtHorizon, 0 -> ahead, 1 -> open(9000, chunk(1, 5000, 5000))) == Map(0 -> 3, 1 -> 1))
    assert(taken(bothAtHorizon, 0 -> ahead, 1 -> open(4000)) == Map.empty)
  }

  test("a chunk that ends too late waits, but the first chunk of the last shard never does") {
    val straddling = open(9000, chunk(1, 5500, 6500))
    assert(taken(bothAtHorizon, 0 -> straddling, 1 -> open(5000, chunk(1, 5000, 5000))) == Map(1 -> 1))
    val disordered = open(5000, chunk(1, 4900, 7000), chunk(2, 5000, 5000))
    assert(taken(bothAtHorizon, 0 -> straddling, 1 -> disordered) == Map(1 -> 1))
  }

  test("a shard that was not read yet counts with the time of its position, and without a time it holds all others") {
    val ahead = open(9000, chunk(1, 5000, 5000), chunk(2, 8000, 8000))
    val from = ShardPosition.Start(StartingPosition.AtTimestamp(4500))
    assert(taken(offset(0 -> Horizon, 1 -> from), 0 -> ahead) == Map(0 -> 1))
    assert(taken(offset(0 -> Horizon, 1 -> After(SequenceNumber("9"), 7500)), 0 -> ahead) == Map(0 -> 2))
    assert(taken(bothAtHorizon, 0 -> ahead) == Map.empty)
  }

  test("a closed shard counts with its last record, because its children continue there, and a finished one does not") {
    val ahead = open(9000, chunk(1, 5000, 5000), chunk(2, 8000, 8000))
    val closed = ShardAvailability(Vector(chunk(7, 6000, 6500)), ended = true, 9000)
    assert(taken(offset(0 -> Horizon, 1 -> ShardPosition.ShardEnd), 0 -> ahead) == Map(0 -> 2))
    assert(taken(bothAtHorizon, 0 -> ahead, 1 -> closed.copy(chunks = Vector.empty)) == Map(0 -> 2))
    assert(taken(bothAtHorizon, 0 -> ahead, 1 -> closed) == Map(0 -> 1))
  }

  test("a batch with a row limit takes the oldest records") {
    val first = open(9000, chunk(1, 5000, 5000), chunk(2, 5100, 5100), chunk(3, 5200, 5200))
    val second = open(9000, chunk(1, 5150, 5150), chunk(2, 5300, 5300))
    val limited = limits.copy(maxRecords = Some(35))
    assert(taken(bothAtHorizon, limited)(0 -> first, 1 -> second) == Map(0 -> 2, 1 -> 1))
    assert(taken(bothAtHorizon, limits.copy(maxRecords = Some(5)))(0 -> first, 1 -> second) == Map(0 -> 1))
  }

  test("the withheld rows are those that the next batch leaves") {
    val shards = Map(0 -> open(9000, chunk(1, 5000, 5000), chunk(2, 8000, 8000)), 1 -> open(5500, chunk(4, 5200, 5300)))
    def withheld(start: SourceOffset) = BatchPlanner.withheldRows(
      start,
      _ => ShardGraph.Empty,
      shard => shards.collectFirst { case (i, known) if id(i) == shard.shard => known },
      Ahead
    )
    assert(withheld(bothAtHorizon) == 10)
    assert(withheld(offset(0 -> After(SequenceNumber("1"), 5000), 1 -> After(SequenceNumber("4"), 7500))) == 0)
  }

  private val shardOfChunks: Gen[Vector[ChunkSummary]] = for {
    count <- Gen.choose(0, 12)
    steps <- Gen.listOfN(count, Gen.zip(Gen.choose(0L, 900L), Gen.choose(0L, Ahead / 4)))
  } yield steps.scanLeft(chunk(0, 0, 0)) { case (last, (pause, span)) =>
    val first = last.newestArrivalMillis + pause
    chunk(last.last.value.toInt + 1, first, first + span)
  }.tail.toVector

  test("every record is read, and none is late for a watermark with the same delay, with and without a row limit") {
    val histories = Gen.choose(1, 5).flatMap(Gen.listOfN(_, shardOfChunks))
    val fetched = Gen.listOf(Gen.choose(0, 12))
    forAll(histories, fetched, Gen.option(Gen.choose(5L, 60L))) { (shards, steps, maxRecords) =>
      val read = new AlignedRead(shards, limits.copy(maxRecords = maxRecords))
      steps.zipWithIndex.foreach { case (count, i) => read.batch(i % shards.size, count) }
      read.toTheEnd()
      assert(!read.isLate && read.isComplete)
    }
  }

  /** Reads shards batch by batch. Each shard is fetched up to some chunk when a batch is planned. */
  private class AlignedRead(shards: List[Vector[ChunkSummary]], limits: ReadLimits) {
    private var position = offset(shards.indices.map(_ -> (Horizon: ShardPosition)): _*)
    private val fetched = Array.fill(shards.size)(0)
    private val planned = Array.fill(shards.size)(0)
    private var watermark = Long.MinValue
    var isLate = false

    def isComplete: Boolean = shards.indices.forall(i => planned(i) == shards(i).size)

    def toTheEnd(): Unit = {
      shards.indices.foreach(i => fetched(i) = shards(i).size)
      while (batch(0, 0)) ()
    }

    /** Fetches some chunks of one shard and plans a batch. */
    def batch(shard: Int, count: Int): Boolean = {
      fetched(shard) = math.min(shards(shard).size, fetched(shard) + count)
      val available = shards.indices.map { i =>
        val last = shards(i).lift(fetched(i) - 1).fold(0L)(_.newestArrivalMillis)
        val upTo = if (fetched(i) == shards(i).size) Long.MaxValue / 4 else last
        id(i) -> ShardAvailability(shards(i).slice(planned(i), fetched(i)), ended = false, upTo)
      }.toMap
      val batch = BatchPlanner.plan(position, _ => ShardGraph.Empty, at => available.get(at.shard), limits)
      batch.foreach { next =>
        position = next.end
        val taken = shards.indices.flatMap { i =>
          val end = next.end.streams(arn).shards(id(i)) match {
            case After(number, _) => shards(i).indexWhere(_.last == number) + 1
            case _ => 0
          }
          val rows = shards(i).slice(planned(i), end)
          planned(i) = end
          rows
        }
        isLate ||= taken.exists(_.firstArrivalMillis < watermark)
        watermark = math.max(watermark, taken.map(_.newestArrivalMillis).max - Ahead)
      }
      batch.nonEmpty
    }
  }
}
