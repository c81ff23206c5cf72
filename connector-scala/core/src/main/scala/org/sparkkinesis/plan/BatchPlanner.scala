package org.sparkkinesis.plan

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.{Lineage, ShardGraph}

/**
 * The state of a shard that the planner uses.
 *
 * @param chunks
 *   chunks that are fetched and not planned, in order; they follow the shard's position without a gap
 * @param ended
 *   no record follows `chunks`
 * @param readUpToMillis
 *   all records that arrived until this time are in `chunks` or before them; 0 if unknown
 * @param childrenSinceMillis
 *   a time before which no record of the shard's children arrived, because the shard was still open then; empty if
 *   unknown
 * @param openUpToMillis
 *   a time at which the shard was still open, so that records of its children arrived later. The service may report a
 *   closed shard as read to its tip, so `readUpToMillis` is no such time.
 * @param precededBy
 *   the record that the first chunk follows, if it is known. A chunk of a new owner may also contain records before the
 *   position.
 */
final case class ShardAvailability(
    chunks: IndexedSeq[ChunkSummary],
    ended: Boolean,
    readUpToMillis: Long = 0,
    childrenSinceMillis: Option[Long] = None,
    openUpToMillis: Long = Long.MaxValue,
    precededBy: Option[SequenceNumber] = None
)

/**
 * Chooses the end of the next micro-batch. Pure: equal inputs give equal results.
 *
 * It ends batches at chunk boundaries. It respects the limits, except that one chunk is always taken, and shares them
 * fairly between the shards. It plans a child shard only in a batch after the one that completed all its parents.
 * Without records there is no batch. Parked streams stay as they are.
 */
object BatchPlanner {

  /**
   * Returns `None` if there is no record after `start`.
   *
   * @param waiting
   *   streams of which no record is planned, because other streams must be read before them
   */
  def plan(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability],
      limits: ReadLimits,
      waiting: Set[String] = Set.empty
  ): Option[PlannedBatch] = {
    val plans = start.read.map(stream => new StreamPlan(stream, graphs(stream.arn), availability)).toVector
    plans.foreach(_.advanceWithoutRecords())
    val ready = if (waiting.isEmpty) plans else plans.filterNot(plan => waiting(plan.arn))
    limits.maxAheadMillis.foreach(align(ready, _))
    val taken = FairShare.take(ready.flatMap(_.readable), limits)
    Option.when(taken.exists(_.count > 0)) {
      var (rows, bytes) = (0L, 0L)
      taken.foreach { candidate =>
        candidate.take()
        rows += candidate.rows
        bytes += candidate.bytes
      }
      PlannedBatch(
        endOf(start, plans),
        rows,
        bytes,
        plans.iterator.flatMap(_.firstArrivals).toMap,
        plans.iterator.flatMap(_.largeRows).toMap,
        plans.iterator.flatMap(_.finished).toMap
      )
    }
  }

  /** Returns the offset with the positions of the plans; parked streams have none. */
  private def endOf(start: SourceOffset, plans: Seq[StreamPlan]): SourceOffset =
    start.copy(streams = start.streams ++ plans.map(plan => plan.arn -> plan.result))

  /**
   * Returns the number of rows that are available and that the next batch leaves to a later one, because their shards
   * are ahead of others.
   */
  def withheldRows(
      start: SourceOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability],
      maxAheadMillis: Long
  ): Long = {
    val plans = start.read.map(unread(_, graphs, availability)).toVector
    plans.foreach(_.advanceWithoutRecords())
    align(plans, maxAheadMillis)
    plans.iterator.flatMap(_.candidates).map(_.withheldRows).sum
  }

  /**
   * Withholds the records that arrived too long after the time up to which the last shard was fetched. That shard can
   * always continue, also if its records did not arrive in order.
   */
  private def align(plans: Seq[StreamPlan], maxAheadMillis: Long): Unit = {
    val unfinished = plans.flatMap(_.candidates).filterNot(_.isDone)
    unfinished.minByOption(_.fetchedUpToMillis).foreach { last =>
      val until = last.fetchedUpToMillis + maxAheadMillis
      unfinished.foreach(shard => shard.withholdAfter(until, isLast = shard eq last))
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
    val plans = start.read.map(unread(_, graphs, availability)).toVector
    plans.foreach(_.advanceWithoutRecords())
    endOf(start, plans)
  }

  /** Returns a plan without the chunks that are before the stream's positions. */
  private def unread(
      stream: StreamOffset,
      graphs: String => ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ): StreamPlan = {
    def after(shard: StreamShard): Option[ShardAvailability] = availability(shard).map { known =>
      stream.shards.get(shard.shard) match {
        case Some(ShardPosition.After(number, _)) => known.copy(chunks = known.chunks.dropWhile(_.last <= number))
        case Some(ShardPosition.Within(number, _, _)) => known.copy(chunks = known.chunks.dropWhile(_.last < number))
        case _ => known
      }
    }
    new StreamPlan(stream, graphs(stream.arn), after)
  }

  /** The positions of one stream while a batch is planned. */
  final private[plan] class StreamPlan(
      stream: StreamOffset,
      graph: ShardGraph,
      availability: StreamShard => Option[ShardAvailability]
  ) {
    def arn: String = stream.arn

    /** The candidates in the order of their shard ids. */
    private val atStart: Vector[Candidate] =
      stream.shards.iterator.map { case (shard, position) =>
        candidate(shard, position, stream.since.get(shard))
      }.toVector

    /**
     * Created only if the lineage is needed. With thousands of shards and no reshard, creating it would be most of the
     * work.
     */
    private lazy val present: mutable.HashMap[ShardId, Candidate] =
      mutable.HashMap.from(atStart.iterator.map(candidate => candidate.shard -> candidate))

    /** Whether a shard was added or removed. If not, the sorted map is not built again. */
    private var hasOtherShards = false

    private def candidate(shard: ShardId, position: ShardPosition, since: Option[Long]): Candidate =
      new Candidate(shard, position, since, availability(StreamShard(stream.arn, shard)))

    /** A parent that was removed has no present ancestors. */
    private def waitsForParent(shard: ShardId): Boolean =
      !Lineage.permits(graph, shard)(present.get(_).map(_.isDone))

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
      present ++= admitted.map(child => child -> candidate(child, ShardPosition.Horizon, unreadSince(child)))
      hasOtherShards ||= admitted.nonEmpty
      admitted.nonEmpty
    }

    /**
     * The time since which the child has unread records, with a margin: the last known time of its parents. It shows
     * whether such records have expired. The child is read from its oldest record in any case, because the service does
     * not promise that a closed shard is never reported as read to its tip before it ends.
     */
    private def unreadSince(child: ShardId): Option[Long] =
      graph.parents(child).flatMap(present.get(_).flatMap(_.readUntil)).maxOption.map(until =>
        math.max(0, until - IdleTime.Margin)
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

    /** Every shard of the plan, in no defined order. */
    def candidates: Iterable[Candidate] = if (hasOtherShards) present.values else atStart

    /** Shards that have records to read and no parent that must be read first. */
    def readable: Seq[Candidate] = {
      val all = if (hasOtherShards) present.values.toVector.sortBy(_.shard) else atStart
      all.filter(candidate => candidate.hasNews && !waitsForParent(candidate.shard))
    }

    def firstArrivals: Iterator[(StreamShard, Long)] = ofCandidates(_.firstArrival)
    def largeRows: Iterator[(StreamShard, Long)] = ofCandidates(_.largeRows)

    def finished: Iterator[(StreamShard, Option[SequenceNumber])] = ofCandidates(_.finished)

    private def ofCandidates[A](value: Candidate => Option[A]): Iterator[(StreamShard, A)] =
      candidates.iterator.flatMap(candidate => value(candidate).map(StreamShard(stream.arn, candidate.shard) -> _))

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
}
