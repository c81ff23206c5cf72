package org.sparkkinesis.plan.realtime

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd, Within}
import org.sparkkinesis.plan.offset.{OffsetCodec, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.plan.{BatchPlanner, TaskPlanner}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

/**
 * Runs real-time batches over a stream that is split and merged at random, whose records have one to three user
 * records. Tasks read any number of rows, and some do not report. Every row is handed over once, or again after a task
 * without a report; never before the rows of its parent shards; and each batch can be read again from its offsets.
 */
class RealTimeHistorySuite extends TimedSuite {
  private val arn = "orders"
  private type Row = UserRecord

  final private class Real(val shard: Shard) {
    val rows = mutable.ArrayBuffer.empty[Row]
    var isClosed = false
    var children: Seq[ChildShard] = Nil

    /** The number of rows before a position. */
    def before(position: ShardPosition): Int = position match {
      case After(number, _) => rows.count(_.sequenceNumber <= number)
      case Within(number, sub, _) => rows.count(row =>
          row.sequenceNumber < number || (row.sequenceNumber == number && row.subSequenceNumber <= sub)
        )
      case ShardEnd => rows.size
      case _ => 0
    }

    /** The position after this number of rows. */
    def position(count: Int): ShardPosition =
      if (count == 0) Horizon
      else {
        val last = rows(count - 1)
        if (count < rows.size && rows(count).sequenceNumber == last.sequenceNumber)
          Within(last.sequenceNumber, last.subSequenceNumber, 0)
        else After(last.sequenceNumber, 0)
      }
  }

  final private class World(random: Random) {
    val all = mutable.LinkedHashMap.empty[ShardId, Real]
    private var number = 0
    var offset: SourceOffset = {
      val first = HashKeyRange.uniform(1 + random.nextInt(4)).map(add(_).shard.id -> (Horizon: ShardPosition))
      SourceOffset(Seq(StreamOffset("orders", arn, 1, first.to(SortedMap))))
    }

    /** The shards and rows that were handed over, of the batches whose tasks all reported. */
    val delivered = mutable.ArrayBuffer.empty[(ShardId, Row)]

    def open: Vector[Real] = all.values.filterNot(_.isClosed).toVector.sortBy(_.shard.hashKeyRange.start)

    private def add(range: HashKeyRange, parents: Real*): Real = {
      val ids = parents.map(_.shard.id)
      val real = new Real(Shard(
        ShardId.ofIndex(all.size.toLong),
        ids.headOption,
        ids.lift(1),
        range,
        SequenceNumber("1"),
        None
      ))
      all(real.shard.id) = real
      real
    }

    def put(): Unit = {
      val rows = open(random.nextInt(open.size)).rows
      number += 1
      (0 to random.nextInt(3)).foreach(sub => rows += UserRecord(SequenceNumber(number.toString), sub.toLong))
    }

    def reshard(): Unit = {
      val shards = open
      val i = random.nextInt(shards.size)
      val range = shards(i).shard.hashKeyRange
      if (random.nextBoolean() && shards.size < 8) {
        val middle = (range.start + range.end) / 2
        val (low, high) = (HashKeyRange(range.start, middle), HashKeyRange(middle + 1, range.end))
        close(shards(i))(add(low, shards(i)), add(high, shards(i)))
      } else if (i + 1 < shards.size)
        close(shards(i), shards(i + 1))(
          add(range.union(shards(i + 1).shard.hashKeyRange), shards(i), shards(i + 1))
        )
    }

    private def close(parents: Real*)(children: Real*): Unit = parents.foreach { parent =>
      parent.isClosed = true
      parent.children =
        children.map(child => ChildShard(child.shard.id, child.shard.parents, child.shard.hashKeyRange))
    }

    private def graph: ShardGraph = ShardGraph.of(all.values.map(_.shard).toSeq)

    /** Runs one batch. If the stream grows, records are put and shards split and merged while the tasks read. */
    def batch(mayLoseReports: Boolean, grows: Boolean): Unit = {
      val start = BatchPlanner.settle(offset, _ => graph, _ => None)
      val shards = RealTimePlanner.shards(start, _ => graph)
      val runs =
        RealTimePlanner.runs(
          shards.readable,
          RealTimePlanner.taskCount(shards.readable.size, 1 + random.nextInt(3), None)
        )
      val tasks = runs.map(run => new Task(run, new TaskLineage(shards.finished, shards.all)))
      (0 until random.nextInt(120)).foreach { _ =>
        random.nextInt(8) match {
          case 0 | 1 | 2 if grows => put()
          case 3 if grows && random.nextInt(6) == 0 => reshard()
          case _ => tasks(random.nextInt(tasks.size)).step()
        }
      }
      val reporting = tasks.filter(_ => !mayLoseReports || random.nextInt(8) > 0)
      val merged = RealTimeMerge.merge(start, shards.readable.map(_.shard).toSet, reporting.flatMap(_.outcomes))
      assert(merged.silent == tasks.filterNot(reporting.contains).flatMap(_.assigned).toSet)
      val rows = reporting.flatMap(_.handedOver)
      delivered ++= rows
      offset = OffsetCodec.decode(OffsetCodec.encode(merged.end))
      assert(replay(start, offset).sortBy(order) == rows.sortBy(order))
    }

    private def order(row: (ShardId, Row)) = (row._1.value, row._2.sequenceNumber, row._2.subSequenceNumber)

    /** The rows that a micro-batch between the same offsets reads. */
    private def replay(start: SourceOffset, end: SourceOffset): Seq[(ShardId, Row)] =
      TaskPlanner.ranges(start, end, Map.empty, _ => None).flatMap { range =>
        all(range.shard.shard).rows.filter { row =>
          val begun = range.after match {
            case StartingPosition.AfterSequenceNumber(number) => row.sequenceNumber > number
            case StartingPosition.AtSequenceNumber(number) => row.sequenceNumber >= number
            case _ => true
          }
          val skipped = range.skipUpTo.exists(last =>
            row.sequenceNumber == last.sequenceNumber && row.subSequenceNumber <= last.subSequenceNumber
          )
          val within = range.end match {
            case RangeEnd.At(number) => row.sequenceNumber <= number
            case RangeEnd.Within(last) => row.sequenceNumber < last.sequenceNumber ||
              (row.sequenceNumber == last.sequenceNumber && row.subSequenceNumber <= last.subSequenceNumber)
            case _ => true
          }
          begun && !skipped && within
        }.map(range.shard.shard -> _)
      }

    final private class Task(run: Vector[LiveShard], lineage: TaskLineage) {
      private val counts =
        mutable.LinkedHashMap.from(run.map(live => live.shard -> all(live.shard.shard).before(live.position)))
      private val ended = mutable.HashSet.empty[StreamShard]
      val assigned: Vector[StreamShard] = run.map(_.shard)
      val handedOver = mutable.ArrayBuffer.empty[(ShardId, Row)]

      /** Reads one row or the end of a shard. */
      def step(): Unit = {
        val left = counts.keys.filterNot(ended).toVector
        if (left.nonEmpty) {
          val shard = left(random.nextInt(left.size))
          val real = all(shard.shard)
          if (counts(shard) < real.rows.size) {
            handedOver += shard.shard -> real.rows(counts(shard))
            counts(shard) += 1
          } else if (real.isClosed) {
            ended += shard
            lineage.finish(shard, real.children).foreach(child => counts(StreamShard(arn, child.id)) = 0)
          }
        }
      }

      def outcomes: Seq[ShardOutcome] = counts.toSeq.map { case (shard, count) =>
        val real = all(shard.shard)
        val position = if (ended(shard)) ShardEnd else real.position(count)
        ShardOutcome(shard, position, 0, None, None, if (ended(shard)) real.children else Nil)
      }
    }
  }

  private def drain(world: World): Unit = {
    var batches = 0
    while (world.delivered.size < world.all.valuesIterator.map(_.rows.size).sum) {
      world.batch(mayLoseReports = false, grows = false)
      batches += 1
      assert(batches < 2000, s"rows are left: ${world.offset}")
    }
  }

  private def check(seed: Int): Unit = {
    val random = new Random(seed)
    val world = new World(random)
    (0 until 12).foreach(_ => world.batch(mayLoseReports = seed % 2 == 0, grows = true))
    drain(world)
    val rows = world.delivered.toVector
    assert(rows.distinct.size == rows.size, "a row was handed over twice")
    val seen = mutable.HashMap.empty[ShardId, Int]
    rows.foreach { case (shard, row) =>
      val real = world.all(shard)
      assert(real.rows(seen.getOrElse(shard, 0)) == row, s"$shard is out of order")
      real.shard.parents.foreach(parent =>
        assert(seen.getOrElse(parent, 0) == world.all(parent).rows.size, s"$shard was read before its parent $parent")
      )
      seen(shard) = seen.getOrElse(shard, 0) + 1
    }
  }

  test("rows of random histories are handed over once, in the order of the lineage, and can be read again") {
    (0 until 400).foreach(seed => withClue(s"seed $seed: ")(check(seed)))
  }
}
