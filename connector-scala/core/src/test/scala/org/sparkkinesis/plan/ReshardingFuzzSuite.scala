package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.util.Random

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan.offset.ShardPosition.{After, Horizon, ShardEnd}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.suite.TimedSuite

/**
 * Plans a stream that is split and merged at random. Consumers progress at different speeds, and listings are late or
 * missing. In any order, every chunk is planned once, and chunks of a shard only after the batch with the last chunks
 * of all its ancestors.
 */
class ReshardingFuzzSuite extends TimedSuite {
  private val arn = "arn:aws:kinesis:eu-central-1:123456789012:stream/orders"

  /** The true state of a shard: its chunks by their last number, and its successors. */
  final private class Real(val shard: Shard) {
    val chunks = mutable.ArrayBuffer.empty[Int]
    var isClosed = false
    var children: Seq[ChildShard] = Nil
    var fetched = 0
    var planned = 0
    var lastBatch = -1
  }

  final private class World(random: Random) {
    private val all = mutable.LinkedHashMap.empty[ShardId, Real]
    private var number = 0
    private var batch = 0

    HashKeyRange.uniform(1 + random.nextInt(4)).foreach(add(_))
    (0 until random.nextInt(6)).foreach(_ => reshard())
    private val first = open.map(_.shard.id)
    private val listings = mutable.ArrayBuffer.empty[Seq[Shard]]
    // Whether shards that were closed before the start of the query can still be listed.
    private val expired = if (random.nextBoolean()) all.keySet.toSet -- first else Set.empty[ShardId]
    private var graph = ShardGraph.Empty
    private var offset = SourceOffset(Seq(StreamOffset("orders", arn, 1, first.map(_ -> Horizon).to(SortedMap))))
    snapshot()

    private def open: Vector[Real] = all.values.filterNot(_.isClosed).toVector.sortBy(_.shard.hashKeyRange.start)

    private def add(range: HashKeyRange, parents: Real*): Real = {
      val ids = parents.map(_.shard.id)
      val id = ShardId.ofIndex(all.size.toLong)
      val real = new Real(Shard(id, ids.headOption, ids.lift(1), range, SequenceNumber("1"), None))
      all(id) = real
      real
    }

    private def reshard(): Unit = {
      val shards = open
      val i = random.nextInt(shards.size)
      if (random.nextBoolean() && shards.size < 8) {
        val range = shards(i).shard.hashKeyRange
        val middle = (range.start + range.end) / 2
        close(shards(i))(
          add(HashKeyRange(range.start, middle), shards(i)),
          add(HashKeyRange(middle + 1, range.end), shards(i))
        )
      } else if (i + 1 < shards.size)
        close(shards(i), shards(i + 1))(
          add(shards(i).shard.hashKeyRange.union(shards(i + 1).shard.hashKeyRange), shards(i), shards(i + 1))
        )
    }

    private def close(parents: Real*)(children: Real*): Unit = parents.foreach { parent =>
      parent.isClosed = true
      parent.children =
        children.map(child => ChildShard(child.shard.id, child.shard.parents, child.shard.hashKeyRange))
    }

    private def put(): Unit = {
      number += 1
      val shards = open
      shards(random.nextInt(shards.size)).chunks += number
    }

    private def snapshot(): Unit =
      listings += all.values.map(_.shard).filterNot(shard => expired(shard.id)).toVector

    /** Possibly an old or an incomplete listing. */
    private def list(): Unit = {
      val listed = listings(listings.size - 1 - random.nextInt(math.min(3, listings.size)))
      val hole = random.nextInt(3 * listed.size)
      graph = graph.withListing(listed.patch(hole, Nil, 1))
    }

    private def isKnown(id: ShardId): Boolean =
      first.contains(id) || graph.range(id).nonEmpty

    private def fetch(): Unit = {
      val known = all.values.filter(real => isKnown(real.shard.id)).toVector
      val real = known(random.nextInt(known.size))
      real.fetched = math.min(real.chunks.size, real.fetched + random.nextInt(3))
      tellEnd(real)
    }

    private def tellEnd(real: Real): Unit =
      if (isEnded(real)) graph = graph.withChildren(real.children)

    private def isEnded(real: Real): Boolean = real.isClosed && real.fetched == real.chunks.size

    private def available(id: ShardId): Option[ShardAvailability] = all.get(id).filter(_ => isKnown(id)).map { real =>
      val chunks = real.chunks.slice(real.planned, real.fetched).map(last =>
        ChunkSummary(SequenceNumber(last.toString), 1, 1, last.toLong, last.toLong, last.toLong, 0)
      )
      ShardAvailability(chunks.toVector, isEnded(real))
    }

    /** Returns false if there was nothing to plan. */
    private def plan(): Boolean = {
      val limits =
        if (random.nextBoolean()) ReadLimits.Unlimited else ReadLimits(maxRecords = Some(1 + random.nextLong(4)))
      val next = BatchPlanner.plan(offset, _ => graph, shard => available(shard.shard), limits)
      next.foreach { planned =>
        val (before, after) = (offset.streams(arn).shards, planned.end.streams(arn).shards)
        all.values.foreach(real => accept(real, before.get(real.shard.id), after.get(real.shard.id)))
        offset = planned.end
        batch += 1
      }
      next.nonEmpty
    }

    private def accept(real: Real, before: Option[ShardPosition], after: Option[ShardPosition]): Unit = {
      val upTo = after match {
        case Some(After(last, _)) => real.chunks.indexOf(last.value.toInt) + 1
        case Some(ShardEnd) => real.chunks.size
        case None if before.nonEmpty => real.chunks.size
        case _ => real.planned
      }
      assert(upTo >= real.planned, s"${real.shard.id} went back from ${real.planned} to $upTo")
      assert(upTo <= real.fetched, s"${real.shard.id} was planned to $upTo with ${real.fetched} fetched")
      if (upTo > real.planned) {
        ancestors(real).foreach { ancestor =>
          assert(ancestor.planned == ancestor.chunks.size, s"${ancestor.shard.id}, read before ${real.shard.id}")
          assert(ancestor.lastBatch < batch, s"${ancestor.shard.id} is in one batch with ${real.shard.id}")
        }
        real.planned = upTo
        real.lastBatch = batch
      }
    }

    /** The ancestors that the query reads. It does not read shards from before its start. */
    private def ancestors(real: Real): Set[Real] = {
      val parents = real.shard.parents.map(all).filterNot(parent => first.contains(real.shard.id) || isBefore(parent))
      parents.toSet ++ parents.flatMap(ancestors)
    }

    private def isBefore(real: Real): Boolean = real.isClosed && real.chunks.isEmpty && real.children.forall(child =>
      first.contains(child.id) || isBefore(all(child.id))
    )

    def run(): Unit = {
      (0 until 120).foreach { _ =>
        random.nextInt(12) match {
          case 0 =>
            reshard()
            if (random.nextBoolean()) snapshot()
          case 1 => list()
          case 2 | 3 | 4 => put()
          case 5 | 6 | 7 | 8 => fetch()
          case _ => plan()
        }
      }
      snapshot()
      // Like the discovery of shards: lists until no parent is unconfirmed.
      var progress = true
      while (progress) {
        (1 to ShardGraph.Omissions).foreach(_ => graph = graph.withListing(listings.last))
        all.values.filter(real => isKnown(real.shard.id)).foreach { real =>
          real.fetched = real.chunks.size
          tellEnd(real)
        }
        progress = plan()
      }
      assert(graph.unconfirmed == Set.empty[ShardId])
      all.values.foreach(real =>
        assert(real.planned == real.chunks.size, s"${real.shard.id} was not read to its end")
      )
    }
  }

  test("every chunk is planned once and after those of its ancestors, in any order of reports") {
    (1 to 500).foreach { seed =>
      try new World(new Random(seed.toLong)).run()
      catch { case failure: Throwable => throw new AssertionError(s"seed $seed: ${failure.getMessage}", failure) }
    }
  }
}
