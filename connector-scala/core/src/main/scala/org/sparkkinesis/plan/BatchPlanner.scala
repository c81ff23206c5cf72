package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph

/**
 * The state of a shard that the planner uses.
 *
 * @param chunks
 *   chunks that are fetched and not planned, in order; they follow the shard's position without a gap
 * @param ended
 *   no record follows `chunks`
 * @param readUpToMillis
 *   all records that arrived until this time are in `chunks` or before them; 0 if unknown
 */
final case class ShardAvailability(chunks: IndexedSeq[ChunkSummary], ended: Boolean, readUpToMillis: Long = 0)

/**
 * The end of a planned micro-batch.
 *
 * @param rows
 *   number of rows in the range, as counted by the consumers
 * @param bytes
 *   payload and key bytes of the range
 */
final case class PlannedBatch(end: SourceOffset, rows: Long, bytes: Long)

/**
 * Chooses the end of the next micro-batch. Pure: equal inputs give equal results.
 *
 * It ends batches at chunk boundaries. It respects the limits, except that one chunk is always taken, and shares them
 * fairly between the shards. It plans a child shard only in a batch after the one that completed all its parents.
 * Without records there is no batch.
 */
object BatchPlanner {

  /** Returns `None` if there is no record after `start`. */
  def plan(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability],
      limits: ReadLimits
  ): Option[PlannedBatch] = {
    val plans = start.streams.values.toVector.map(stream => new StreamPlan(stream, graphs(stream.arn), availability))
    plans.foreach(_.advanceWithoutRecords())
    val taken = FairShare.take(plans.flatMap(_.readable), limits)
    Option.when(taken.exists(_.count > 0)) {
      var (rows, bytes) = (0L, 0L)
      taken.foreach { candidate =>
        candidate.take()
        rows += candidate.rows
        bytes += candidate.bytes
      }
      PlannedBatch(SourceOffset(plans.map(_.result)), rows, bytes)
    }
  }

  /**
   * Returns `start` with the progress that needs no record: shards without records get a later time, and closed shards
   * without records are replaced by their children.
   */
  def settle(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ): SourceOffset = {
    val plans = start.streams.values.toVector.map { stream =>
      def unread(shard: StreamShard): Option[ShardAvailability] = availability(shard).map { known =>
        stream.shards.get(shard.shard) match {
          case Some(ShardPosition.After(number, _)) => known.copy(chunks = known.chunks.dropWhile(_.last <= number))
          case Some(ShardPosition.Within(number, _, _)) =>
            known.copy(chunks = known.chunks.dropWhile(_.last < number))
          case _ => known
        }
      }
      new StreamPlan(stream, graphs(stream.arn), unread)
    }
    plans.foreach(_.advanceWithoutRecords())
    SourceOffset(plans.map(_.result))
  }

  /** The positions of one stream while a batch is planned. */
  final private[plan] class StreamPlan(
      stream: StreamOffset,
      graph: ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ) {

    /** The candidates in the order of their shard ids. */
    private val atStart: Vector[Candidate] =
      stream.shards.iterator.map { case (shard, position) => candidate(shard, position) }.toVector

    /**
     * Created only if the lineage is needed. With thousands of shards and no reshard, creating it would be most of the
     * work.
     */
    private lazy val present: mutable.HashMap[ShardId, Candidate] =
      mutable.HashMap.from(atStart.iterator.map(candidate => candidate.shard -> candidate))

    /** Whether a shard was added or removed. If not, the sorted map is not built again. */
    private var hasOtherShards = false

    private def candidate(shard: ShardId, position: ShardPosition): Candidate =
      new Candidate(shard, position, stream.since.get(shard), availability(StreamShard(stream.arn, shard)))

    private def waitsForParent(shard: ShardId): Boolean = graph.parents(shard).exists { parent =>
      present.get(parent).fold(isPending(parent))(!_.isDone)
    }

    /**
     * True if the shard is not present but may still be added, because it may descend from a present shard. A shard
     * that was removed has no present ancestors.
     */
    private def isPending(shard: ShardId): Boolean = graph.mayDescend(shard)(present.contains)

    /**
     * Finishes closed shards without records and adds the children whose parents are all finished, until nothing
     * changes. This takes no record, so this batch may read the children.
     */
    def advanceWithoutRecords(): Unit = {
      val frontier = mutable.Queue.from(atStart.iterator.filter(_.isOver).map(_.shard))
      while (frontier.nonEmpty) {
        val shard = frontier.dequeue()
        present.get(shard).filter(_.isOver).foreach { over =>
          val finishes = !over.isDone && !waitsForParent(shard)
          if (finishes) over.finish(over.readUntil)
          if (over.isDone) frontier ++=
            (if (finishes | admitChildren(shard) | leave(shard)) graph.children(shard) else Nil)
        }
      }
    }

    /** Adds the children whose parents are finished. Returns true if there was one. */
    private def admitChildren(shard: ShardId): Boolean = {
      val admitted = graph.children(shard).filter(child => !present.contains(child) && !waitsForParent(child))
      present ++= admitted.map(child => child -> candidate(child, beginning(child)))
      hasOtherShards ||= admitted.nonEmpty
      admitted.nonEmpty
    }

    /** The position before the child's oldest record, which arrived after the last records of all its parents. */
    private def beginning(child: ShardId): ShardPosition =
      graph.parents(child).flatMap(present.get(_).flatMap(_.readUntil)).maxOption.fold(ShardPosition.Horizon)(until =>
        ShardPosition.Start(StartingPosition.AtTimestamp(math.max(0, until - IdleTime.Margin)))
      )

    /**
     * Removes a finished shard when all its children are present, unless a parent is present that would add it again.
     * Returns true if it was removed.
     */
    private def leave(shard: ShardId): Boolean = {
      val leaves = graph.hasAllChildren(shard) && graph.children(shard).forall(present.contains) &&
        !graph.parents(shard).exists(present.contains)
      if (leaves) present -= shard
      hasOtherShards ||= leaves
      leaves
    }

    /** Shards that have records to read and no parent that must be read first. */
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
            // `transform` does not promise an order.
            (if (next.shard == shard) next else present(shard)).settled
          }
        }
      stream.copy(shards = shards, begun = times(_.begun), since = times(_.settledSince))
    }

    private def times(of: Candidate => Option[Long]): SortedMap[ShardId, Long] = {
      val candidates = if (hasOtherShards) present.valuesIterator else atStart.iterator
      candidates.flatMap(candidate => of(candidate).map(candidate.shard -> _)).to(SortedMap)
    }
  }

  /** One shard: its position, its chunks, and the number of chunks that the batch takes. */
  final private[plan] class Candidate(
      val shard: ShardId,
      var position: ShardPosition,
      var since: Option[Long],
      available: Option[ShardAvailability]
  ) {
    private val chunks = available.fold[IndexedSeq[ChunkSummary]](Vector.empty)(_.chunks)
    private val hadRecords = position match {
      case _: ShardPosition.After | _: ShardPosition.Within => true
      case _ => false
    }
    var count = 0
    var rows = 0L
    var bytes = 0L

    def isDone: Boolean = position == ShardPosition.ShardEnd

    /** Finished, or closed and without records to read. */
    def isOver: Boolean = isDone || (chunks.isEmpty && available.exists(_.ended))
    def hasNews: Boolean = chunks.nonEmpty && !isDone
    def next: Option[ChunkSummary] = chunks.lift(count)

    def takeNext(): Unit = if (count < chunks.size) {
      rows += chunks(count).rows
      bytes += chunks(count).bytes
      count += 1
    }

    /** The arrival time of the shard's first record if the batch takes it. */
    def begun: Option[Long] = Option.when(count > 0 && !hadRecords)(chunks.head.firstArrivalMillis)

    /** A time before which every record of the shard is before the position, if it is known. */
    def readUntil: Option[Long] = IdleTime.of(position).orElse(since)

    /** Moves the position to the end of the shard, of which every record before this time was read. */
    def finish(until: Option[Long]): Unit = {
      position = ShardPosition.ShardEnd
      since = until
    }

    def takeAll(): Unit = while (count < chunks.size) takeNext()

    /** Moves the position to the end of the taken chunks. */
    def take(): Unit = if (count > 0) {
      val last = chunks(count - 1)
      if (count == chunks.size && available.exists(_.ended)) finish(Some(last.lastArrivalMillis))
      else position = ShardPosition.After(last.last, last.lastArrivalMillis)
    }

    /**
     * The position at the end of the batch. If all chunks were taken, the position's time is updated occasionally;
     * otherwise a restart could assume that the records of an idle shard have expired.
     */
    def settled: ShardPosition = known.fold(position) { known =>
      next.fold(IdleTime.refresh(position, known.readUpToMillis))(chunk =>
        IdleTime.upToNext(position, chunk.firstArrivalMillis)
      )
    }

    /** The time for a position that has none at the end of the batch. */
    def settledSince: Option[Long] = settled match {
      case ShardPosition.ShardEnd => since
      case position if IdleTime.of(position).isEmpty =>
        val fetched = known.map(known => next.fold(known.readUpToMillis - IdleTime.Margin)(_.firstArrivalMillis))
        since.filter(old => fetched.forall(_ - old <= IdleTime.Period)).orElse(fetched)
      case _ => None
    }

    private def known: Option[ShardAvailability] = available.filter(_.readUpToMillis > 0)
  }
}
