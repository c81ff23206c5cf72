package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{ShardId, StreamShard}
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
      var (rows, bytes) = (0L, 0L)
      taken.foreach { candidate =>
        candidate.take()
        rows += candidate.rows
        bytes += candidate.bytes
      }
      PlannedBatch(SourceOffset(lines.map(_.result)), rows, bytes)
    }
  }

  /**
   * The same place, as far as it is known without a record: shards without news were read up to a later time, and closed ones of which
   * nothing is left have given way to their children.
   */
  def settle(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ): SourceOffset = {
    val lines = start.streams.values.toVector.map(stream => new StreamLine(stream, graphs(stream.arn), availability))
    lines.foreach(_.advanceFreely())
    SourceOffset(lines.map(_.result))
  }

  /** One stream's positions while a batch is planned. */
  final private[plan] class StreamLine(
      stream: StreamOffset,
      graph: ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ) {

    /** In the order of their names. */
    private val atStart: Vector[Candidate] =
      stream.shards.iterator.map { case (shard, position) => candidate(shard, position) }.toVector

    /** Made when lineage asks for it; of thousands of shards that only flow it would be most of the work. */
    private lazy val present: mutable.HashMap[ShardId, Candidate] =
      mutable.HashMap.from(atStart.iterator.map(candidate => candidate.shard -> candidate))

    /** Whether a shard came or left; if none did, the sorted map need not be built anew. */
    private var hasOtherShards = false

    private def candidate(shard: ShardId, position: ShardPosition): Candidate =
      new Candidate(shard, position, availability(StreamShard(stream.arn, shard)))

    private def waitsForParent(shard: ShardId): Boolean = graph.parents(shard).exists { parent =>
      present.get(parent).fold(isPending(parent))(!_.isDone)
    }

    /** Not in yet, but to come: it may descend from a shard that is in. What has left has no ancestors here any more. */
    private def isPending(shard: ShardId): Boolean = graph.mayDescend(shard)(present.contains)

    /**
     * Finishes closed shards of which no record is left, and lets children in whose parents are all finished, until nothing
     * changes any more. None of this takes a record, so the children of such a shard may be read in this very batch.
     */
    def advanceFreely(): Unit = {
      val frontier = mutable.Queue.from(atStart.iterator.filter(_.isOver).map(_.shard))
      while (frontier.nonEmpty) {
        val shard = frontier.dequeue()
        present.get(shard).filter(_.isOver).foreach { over =>
          val finishes = !over.isDone && !waitsForParent(shard)
          if (finishes) over.position = ShardPosition.ShardEnd
          if (over.isDone) frontier ++=
            (if (finishes | admitChildren(shard) | leave(shard)) graph.children(shard) else Nil)
        }
      }
    }

    /** Whether a child was let in. */
    private def admitChildren(shard: ShardId): Boolean = {
      val admitted = graph.children(shard).filter(child => !present.contains(child) && !waitsForParent(child))
      present ++= admitted.map(child => child -> candidate(child, ShardPosition.Horizon))
      hasOtherShards ||= admitted.nonEmpty
      admitted.nonEmpty
    }

    /** A finished shard leaves once its children are all in; not while a parent is there that would let it in again. */
    private def leave(shard: ShardId): Boolean = {
      val leaves = graph.hasAllChildren(shard) && graph.children(shard).forall(present.contains) &&
        !graph.parents(shard).exists(present.contains)
      if (leaves) present -= shard
      hasOtherShards ||= leaves
      leaves
    }

    /** Shards that have something to read and no parent that must be read first. */
    def readable: Seq[Candidate] = {
      val all = if (hasOtherShards) present.values.toVector.sortBy(_.shard) else atStart
      all.filter(candidate => candidate.hasNews && !waitsForParent(candidate.shard))
    }

    def result: StreamOffset = {
      val shards =
        if (hasOtherShards) present.iterator.map { case (shard, candidate) => shard -> candidate.settled }.to(SortedMap)
        else {
          val inOrder = atStart.iterator
          stream.shards.transform { (shard, _) =>
            val next = inOrder.next()
            // No map promises the order of its transformation.
            (if (next.shard == shard) next else present(shard)).settled
          }
        }
      stream.copy(shards = shards)
    }
  }

  /** One shard: its position, its chunks, and how many of them the batch takes. */
  final private[plan] class Candidate(
      val shard: ShardId,
      var position: ShardPosition,
      available: Option[ShardAvailability]
  ) {
    private val chunks = available.fold[IndexedSeq[ChunkSummary]](Vector.empty)(_.chunks)
    var count = 0
    var rows = 0L
    var bytes = 0L

    def isDone: Boolean = position == ShardPosition.ShardEnd

    /** Finished, or closed and without anything left to read. */
    def isOver: Boolean = isDone || (chunks.isEmpty && available.exists(_.ended))
    def hasNews: Boolean = chunks.nonEmpty && !isDone
    def next: Option[ChunkSummary] = chunks.lift(count)

    def takeNext(): Unit = if (count < chunks.size) {
      rows += chunks(count).rows
      bytes += chunks(count).bytes
      count += 1
    }

    def takeAll(): Unit = while (count < chunks.size) takeNext()

    /** Moves the position to the end of what was taken. */
    def take(): Unit = if (count > 0) {
      val last = chunks(count - 1)
      position =
        if (count == chunks.size && available.exists(_.ended)) ShardPosition.ShardEnd
        else ShardPosition.After(last.last, last.lastArrivalMillis)
    }

    /**
     * The position that the batch ends with. A shard of which everything was taken is known to have been idle since: its position says
     * so, once in a while, or a restart would take it for one whose records have expired.
     */
    def settled: ShardPosition =
      if (count < chunks.size) position
      else available.fold(position)(read => StillIdle.refresh(position, read.readUpToMillis))
  }
}
