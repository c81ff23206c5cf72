package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{HashKeyRange, SequenceNumber, StreamShard}
import org.sparkkinesis.plan._
import org.sparkkinesis.spark.protocol.Release

/** What a query may ask about what was fetched ahead, on its own thread; answered from reports, without a call of the service. */
final class PrefetchView private[coordinator] (state: CoordinatorState, preference: ExecutorPlace => String) {
  import state.{locked, tracks}

  /**
   * Where the next batch ends, or none when there is nothing.
   *
   * @param until
   *   leaves out what arrived later
   */
  def plan(start: SourceOffset, limits: ReadLimits, until: Option[AvailableNowTarget]): Option[PlannedBatch] = locked {
    state.throwFailure()
    BatchPlanner.plan(start, state.graphs, shard => tracks.get(shard).map(available(_, until)), limits)
  }

  /** The same place, as far as it is known when there is nothing to plan. */
  def settle(start: SourceOffset, until: Option[AvailableNowTarget]): SourceOffset =
    locked(BatchPlanner.settle(start, state.graphs, shard => tracks.get(shard).map(available(_, until))))

  /** Whether everything that belongs to the target was planned; asked when there is nothing to plan. */
  def isReached(target: AvailableNowTarget): Boolean = ofEveryShard { track =>
    target.isReached(track.chunks.toVector, track.readUpToMillis, track.ended)
  }

  /** Whether the consumers have fetched, of every shard, all that belongs to the target; part of it may be planned only later. */
  def everythingIsFetched(target: AvailableNowTarget): Boolean = ofEveryShard { track =>
    track.ended || track.readUpToMillis >= target.millis ||
    track.chunks.exists(_.firstArrivalMillis > target.millis)
  }

  def hashKeyRange(shard: StreamShard): Option[HashKeyRange] =
    locked(state.graphs(shard.stream).range(shard.shard))

  /** Counts what was heard; for [[awaitChange]]. */
  def changes: Long = locked(state.changes)

  /** Waits until something was heard since `seen`, at most this long. */
  def awaitChange(seen: Long, millis: Long): Unit = state.awaitChange(seen, millis)

  /** Frees the buffers of what is reported already, so that the consumers go on; tasks will read it from the service. */
  def readAhead(): Unit = locked {
    tracks.valuesIterator.toVector.groupBy(state.owner).foreach { case (owner, ofOwner) =>
      val reported = ofOwner.flatMap(track => track.lastReported.map(track.shard -> _))
      if (reported.nonEmpty) owner.foreach(_.tell(Release(reported)))
    }
  }

  /** Some executor's buffer takes no more until something is planned. */
  def bufferIsFull: Boolean = locked(state.peers.valuesIterator.exists(_.bufferIsFull))

  /** Rows that are reported and not planned. */
  def availableRows: Long = locked(tracks.valuesIterator.map(_.rows).sum)

  /** Where a task that reads the shard should run, as Spark's scheduler takes it: the executor that holds it. */
  def location(shard: StreamShard): Option[String] =
    locked(tracks.get(shard).flatMap(state.owner)).map(owner => preference(ExecutorPlace(owner.id, owner.host)))

  /** The last record that was fetched of a shard that has ended. */
  def lastOfEnded(shard: StreamShard): Option[SequenceNumber] =
    locked(tracks.get(shard).filter(_.ended).flatMap(_.lastReported))

  /**
   * @param taken
   *   where the last batch ended
   * @param nowMillis
   *   epoch milliseconds, for the age of records
   */
  def status(taken: Option[SourceOffset], nowMillis: Long): CoordinatorStatus = locked {
    val fetchedBehind = tracks.valuesIterator.filterNot(_.ended).flatMap(_.millisBehindLatest).toVector
    val behind = tracks.valuesIterator.flatMap { track =>
      val planned = taken.flatMap(_.streams.get(track.shard.stream)).flatMap(_.shards.get(track.shard.shard))
      track.lagMillis(planned, nowMillis)
    }.toVector
    val ended = tracks.valuesIterator.count(_.ended)
    val shards = tracks.valuesIterator.flatMap(_.owner).toVector.groupMapReduce(identity)(_ => 1)(_ + _)
    CoordinatorStatus(
      behind,
      fetchedBehind,
      tracks.size - ended,
      ended,
      state.peers.keysIterator.map(id => id -> shards.getOrElse(id, 0)).toMap,
      state.peers.valuesIterator.map(_.metrics).foldLeft(state.lostMetrics)(CoordinatorStatus.sum)
    )
  }

  private def ofEveryShard(condition: ShardTrack => Boolean): Boolean = locked {
    state.throwFailure()
    state.listed.size == state.streams.size && state.streamsWithUnconfirmedParents.isEmpty &&
    state.wanted().forall { case (shard, _) => tracks.get(shard).exists(condition) }
  }

  private def available(track: ShardTrack, until: Option[AvailableNowTarget]): ShardAvailability = {
    val chunks = track.chunks.toVector
    val within = until.fold[IndexedSeq[ChunkSummary]](chunks)(_.within(chunks))
    // What arrived after the target is left out, so nothing may be said of that time.
    val readUpTo = until.fold(track.readUpToMillis)(target => math.min(track.readUpToMillis, target.millis))
    ShardAvailability(within, track.ended && within.size == chunks.size, readUpTo)
  }
}

/**
 * What a coordinator knows at a moment, for metrics.
 *
 * @param millisBehindLatest
 *   how far the query is behind, for every shard with something to read: the age of the oldest record that no batch has taken,
 *   or, where none is buffered, what the service said last
 * @param fetchedMillisBehindLatest
 *   how far fetching is behind, as the service said last, for every open shard that was heard of
 * @param totals
 *   counters of all consumers, lost ones included
 */
final case class CoordinatorStatus(
    millisBehindLatest: Seq[Long],
    fetchedMillisBehindLatest: Seq[Long],
    openShards: Int,
    endedShards: Int,
    shardsByExecutor: Map[String, Int],
    totals: Map[String, Long]
)

private[coordinator] object CoordinatorStatus {
  def sum(a: Map[String, Long], b: Map[String, Long]): Map[String, Long] = (a.keySet ++ b.keySet).iterator.map(name =>
    name -> (a.getOrElse(name, 0L) + b.getOrElse(name, 0L))
  ).toMap
}
