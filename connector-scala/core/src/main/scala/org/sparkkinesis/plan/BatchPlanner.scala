package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.consume.{ChunkSummary, StreamShard}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.shard.ShardGraph

/**
 * What the planner may know of a shard.
 *
 * @param chunks
 *   fetched and not planned yet, in order: they follow the shard's position without a gap
 * @param ended
 *   nothing comes after `chunks`
 * @param readUpToMillis
 *   everything that arrived until then is in `chunks`, or before them; 0 when unknown
 */
final case class ShardAvailability(chunks: IndexedSeq[ChunkSummary], ended: Boolean, readUpToMillis: Long = 0)

/**
 * A planned end.
 *
 * @param rows
 *   of the range, as the consumers counted them
 */
final case class PlannedBatch(end: SourceOffset, rows: Long, bytes: Long)

/**
 * Chooses where the next micro-batch ends. Pure: the same input gives the same range.
 *
 * What it promises: it ends at chunk boundaries; it keeps to the limits, except that one chunk is always taken; it shares
 * the limits fairly; a child is planned only after the batch that took its parents, all of them, to their end; when there is
 * no record to plan there is no batch.
 */
object BatchPlanner {

  /** None when there is no record after `start`. */
  def plan(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability],
      limits: ReadLimits
  ): Option[PlannedBatch] = {
    val lines = start.streams.values.toVector.map(stream => new StreamLine(stream, graphs(stream.arn), availability))
    lines.foreach(_.advanceFreely())
    val taken = FairShare.take(lines.flatMap(_.readable), limits)
    Option.when(taken.exists(_.count > 0)) {
      taken.foreach(candidate => candidate.line.take(candidate))
      PlannedBatch(SourceOffset(lines.map(_.result)), taken.iterator.map(_.rows).sum, taken.iterator.map(_.bytes).sum)
    }
  }

  /** One stream's positions while a batch is planned. */
  final private[plan] class StreamLine(
      stream: StreamOffset,
      graph: ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ) {
    private val positions: mutable.HashMap[ShardId, ShardPosition] = mutable.HashMap.from(stream.shards)
    private val seen = mutable.HashMap.empty[ShardId, Option[ShardAvailability]]

    /** Whether a shard came or left; if none did, the sorted map need not be built anew. */
    private var hasOtherShards = false

    private def available(shard: ShardId): Option[ShardAvailability] =
      seen.getOrElseUpdate(shard, availability(StreamShard(stream.arn, shard)))

    private def isDone(shard: ShardId): Boolean = positions.get(shard).contains(ShardPosition.ShardEnd)

    private def waitsForParent(shard: ShardId): Boolean = graph.parents(shard).exists { parent =>
      if (positions.contains(parent)) !isDone(parent) else isPending(parent)
    }

    /** Not in yet, but to come: it descends from a shard that is in. What has left has no ancestors here any more. */
    private def isPending(shard: ShardId): Boolean =
      graph.parents(shard).exists(parent => positions.contains(parent) || isPending(parent))

    /**
     * Finishes closed shards of which no record is left, and lets children in whose parents are all finished, until nothing
     * changes any more. None of this takes a record, so the children of such a shard may be read in this very batch.
     */
    def advanceFreely(): Unit = {
      val frontier = mutable.Queue.from(stream.shards.keysIterator)
      while (frontier.nonEmpty) {
        val shard = frontier.dequeue()
        val finishes = positions.contains(shard) && !isDone(shard) && !waitsForParent(shard) &&
          available(shard).exists(a => a.ended && a.chunks.isEmpty)
        if (finishes) positions += shard -> ShardPosition.ShardEnd
        if (isDone(shard)) frontier ++=
          (if (finishes | admitChildren(shard) | leave(shard)) graph.children(shard) else Nil)
      }
    }

    /** Whether a child was let in. */
    private def admitChildren(shard: ShardId): Boolean = {
      val admitted = graph.children(shard).filter(child => !positions.contains(child) && !waitsForParent(child))
      positions ++= admitted.map(_ -> ShardPosition.Horizon)
      hasOtherShards ||= admitted.nonEmpty
      admitted.nonEmpty
    }

    /** A finished shard leaves once its children are all in; not while a parent is there that would let it in again. */
    private def leave(shard: ShardId): Boolean = {
      val leaves = graph.hasAllChildren(shard) && graph.children(shard).forall(positions.contains) &&
        !graph.parents(shard).exists(positions.contains)
      if (leaves) positions -= shard
      hasOtherShards ||= leaves
      leaves
    }

    /** Shards that have something to read and no parent that must be read first. */
    def readable: Seq[Candidate] = (if (hasOtherShards) positions.keys.toVector.sorted.iterator
                                    else stream.shards.keysIterator)
      .filterNot(shard => isDone(shard) || waitsForParent(shard))
      .flatMap(shard => available(shard).filter(_.chunks.nonEmpty).map(new Candidate(this, shard, _)))
      .toVector

    def take(candidate: Candidate): Unit = if (candidate.count > 0) {
      val last = candidate.available.chunks(candidate.count - 1)
      val all = candidate.count == candidate.available.chunks.size
      val position = if (all && candidate.available.ended) ShardPosition.ShardEnd
      else ShardPosition.After(last.last, last.lastArrivalMillis)
      positions += candidate.shard -> position
    }

    /**
     * Shards of which nothing was there to take are known to have been idle: their positions say so, once in a while, or a restart
     * would take them for positions whose records have expired.
     */
    def result: StreamOffset = {
      val shards = if (hasOtherShards) positions.to(SortedMap) else stream.shards
      stream.copy(shards = shards.transform { (shard, _) =>
        val position = positions(shard)
        available(shard).filter(_.chunks.isEmpty).fold(position)(idle =>
          StillIdle.refresh(position, idle.readUpToMillis)
        )
      })
    }
  }

  /** One shard's chunks, and how many of them the batch takes. */
  final private[plan] class Candidate(val line: StreamLine, val shard: ShardId, val available: ShardAvailability) {
    var count = 0
    var rows = 0L
    var bytes = 0L

    def next: Option[ChunkSummary] = available.chunks.lift(count)

    def takeNext(): Unit = next.foreach { chunk =>
      count += 1
      rows += chunk.rows
      bytes += chunk.bytes
    }
  }
}
