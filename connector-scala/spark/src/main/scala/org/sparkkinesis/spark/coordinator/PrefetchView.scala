package org.sparkkinesis.spark.coordinator

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.metric.Sums
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.{LostLineage, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.coordinator.cluster.ExecutorPlace
import org.sparkkinesis.spark.coordinator.state.{CoordinatorState, Overtaken, ShardTrack, WantedShards}
import org.sparkkinesis.spark.protocol.Release

/**
 * Answers the query's questions about prefetched records from the executors' reports, without a service call. For the
 * query's thread.
 *
 * @param list
 *   starts a listing of the streams that must be listed
 */
final class PrefetchView private[coordinator] (
    state: CoordinatorState,
    preference: ExecutorPlace => String,
    list: () => Unit
) {
  import state.{locked, tracks}

  /**
   * Plans the next batch; `None` when there is nothing to read.
   *
   * @param until
   *   excludes records that arrived later
   * @param evenUntimed
   *   whether the caller takes a batch whose end has positions without a time
   */
  def plan(
      start: SourceOffset,
      limits: ReadLimits,
      until: Option[AvailableNowTarget],
      evenUntimed: Boolean = false
  ): Option[PlannedBatch] = locked {
    state.throwFailure()
    val batch = BatchPlanner.plan(
      start,
      state.graphs,
      available(until),
      limits,
      state.heldBack
    )
    batch.filter(evenUntimed || _.end.isTimed).foreach { planned =>
      tracks.valuesIterator.foreach { track =>
        planned.end.streams.get(track.shard.stream).flatMap(_.shards.get(track.shard.shard)).foreach(track.planned)
      }
    }
    batch
  }

  /**
   * Returns the end of a batch with times for the shards that have no answer yet: the oldest time that their records
   * may have. Records that expire before the first answer of such a shard are reported only if this answer takes longer
   * than `Retention.FirstFetch`.
   *
   * @param oldestMillis
   *   returns a time, in epoch milliseconds, before which the records of a stream have expired
   */
  def timed(end: SourceOffset, oldestMillis: String => Long): SourceOffset = {
    val oldest = end.read.map(stream => stream.arn -> oldestMillis(stream.arn)).toMap
    locked(oldest.foreach { case (stream, millis) => state.givenTimes.note(stream, millis) })
    end.timed(oldest)
  }

  /** Returns `start` with the newest known read times, when there is nothing to plan. */
  def settle(start: SourceOffset, until: Option[AvailableNowTarget]): SourceOffset =
    locked(BatchPlanner.settle(start, state.graphs, available(until)))

  /** Returns a stream that is not read any more with the newest known read times. */
  def settle(stream: StreamOffset): StreamOffset =
    settle(SourceOffset(Seq(stream.copy(phase = StreamPhase.Active))), None).streams(stream.arn)
      .copy(phase = stream.phase)

  /** The change count and arguments for which [[lostLineages]] has found none. */
  private var nothingLostAt: Option[(Long, SourceOffset, Option[AvailableNowTarget])] = None

  /**
   * Returns the offset after `start` and the lost lineage of each stream with a shard that was given up, whose records
   * are all planned, and whose descendants no listing links to the offset's shards. Each one is returned once: the
   * stream is listed again before another one is found.
   */
  def lostLineages(start: SourceOffset, until: Option[AvailableNowTarget]): Seq[(StreamOffset, LostLineage)] = {
    val found = locked {
      // Spark asks every few milliseconds, and a shard without descendants stays given up.
      if (state.givenUp.isEmpty || nothingLostAt.contains((state.changes, start, until))) Nil
      else {
        val lost = settle(start, until).read.flatMap { stream =>
          state.givenUp.lostLineage(stream, state.graphs(stream.arn)).map(stream -> _)
        }.toVector
        nothingLostAt = Option.when(lost.isEmpty)((state.changes, start, until))
        lost.foreach { case (stream, _) => state.givenUp.listAgain(stream.arn) }
        lost
      }
    }
    if (found.nonEmpty) list()
    found
  }

  /** Answers how much of a target is fetched and planned. */
  val targets: TargetProgress = new TargetProgress(state, list)

  /** Returns the streams that may have been recreated since the last call. */
  def takeDoubtful(): Set[String] = locked {
    val taken = state.doubtful
    state.doubtful = Set.empty
    taken
  }

  /**
   * Returns the streams with shards of which nothing is planned until a description that begins now or later shows that
   * their streams were not recreated. While the service has not answered the owners of all shards of a stream, it has
   * the time of its first such report, in nanoseconds of this process's clock. See [[prove]].
   */
  def unproven: Map[String, Option[Long]] = locked {
    val since = tracks.valuesIterator.flatMap(track => track.unprovenSince.map(track.shard.stream -> _)).toVector
      .groupMapReduce(_._1)(_._2)((one, other) => if (one - other <= 0) one else other)
    val silent =
      if (since.isEmpty) Set.empty[String] else tracks.valuesIterator.filter(_.isSilent).map(_.shard.stream).toSet
    since.map { case (stream, nanos) => stream -> Option.when(silent(stream))(nanos) }
  }

  /**
   * Records that these streams were not recreated, or do not exist any more.
   *
   * @param nanos
   *   the time at which they began to be described, in nanoseconds of this process's clock
   * @param missing
   *   those that do not exist any more. Nothing shows that what they have answered last was of the known stream.
   */
  def prove(streams: Set[String], nanos: Long, missing: Set[String] = Set.empty): Unit = if (streams.nonEmpty) locked {
    tracks.valuesIterator.filter(track => streams(track.shard.stream)).foreach(track =>
      track.prove(nanos, exists = !missing(track.shard.stream))
    )
    state.noteChange()
  }

  /** Records that it is unknown whether these streams were recreated. */
  def doubt(streams: Set[String]): Unit = locked(state.doubtful ++= streams & state.streams)

  /** Returns whether a stream may have been recreated, as far as the reports and the descriptions show. */
  def mayBeRecreated(stream: String): Boolean = locked(state.tracksOf(stream).exists(_.mayBeRecreated))

  /**
   * Returns whether a stream may have been recreated, although none of its shards has reported records. If so, it is
   * [[unproven]] from now on.
   */
  def requireProof(stream: String): Boolean = locked {
    val doubtful = state.tracksOf(stream).filter(_.mayBeRecreated).toVector
    doubtful.foreach(_.noteNews(state.clock.nanoTime))
    doubtful.nonEmpty
  }

  /** Returns the streams that do not exist any more, without those that have fetched records which are not planned. */
  def missing: Seq[MissingStream] = locked {
    if (state.missing.isEmpty) Nil
    else {
      // Children are not wanted while their parents are read again, and may have had records that are not planned.
      val pending = tracks.keysIterator.filter(WantedShards.isPending(state.position, state.graphs, _))
      val unread = state.wanted().map(_._1) ++ pending
      val ofStream = unread.distinct.groupBy(_.stream).withDefaultValue(Nil)
      state.missing.toVector.collect {
        case (stream, gone) if ofStream(stream).forall(tracks.get(_).forall(_.chunks.isEmpty)) =>
          MissingStream(stream, gone.failure, ofStream(stream).forall(tracks.get(_).exists(gone.isRead)))
      }
    }
  }

  /** Returns the shards of which newer records were fetched late since the last call. */
  def takeOvertaken(): Seq[Overtaken] = locked(state.overtaken.take())

  def hashKeyRange(shard: StreamShard): Option[HashKeyRange] =
    locked(state.graphs(shard.stream).range(shard.shard))

  /** Returns the number of changes so far; see [[awaitChange]]. */
  def changes: Long = locked(state.changes)

  /** Waits for a change after `seen`, at most this many milliseconds. */
  def awaitChange(seen: Long, millis: Long): Unit = state.awaitChange(seen, millis)

  /**
   * Drops reported records from the buffers, so that the consumers continue to fetch. Tasks read these records from
   * the service. An executor of which a report was lost keeps its records until its full report has named them.
   */
  def readAhead(): Unit = locked {
    tracks.valuesIterator.toVector.groupBy(state.owner).foreach { case (owner, ofOwner) =>
      owner.filterNot(_.lacksNews).foreach { from =>
        val reported = ofOwner.flatMap(track => track.dropAhead().map(track.shard -> _))
        if (reported.nonEmpty) from.tell(Release(reported))
      }
    }
  }

  /** Returns whether the buffer of some executor is full. It stays full until records are planned. */
  def bufferIsFull: Boolean = locked(state.peers.valuesIterator.exists(_.bufferIsFull))

  /** Returns the number of rows that are reported but not planned. */
  def availableRows: Long = locked(tracks.valuesIterator.map(_.rows).sum)

  /** Returns the summaries of each shard that the driver holds: of the chunks that are reported and not released. */
  private[sparkkinesis] def summaries: Map[StreamShard, Seq[ChunkSummary]] =
    locked(tracks.iterator.map { case (shard, track) => shard -> track.chunks.toVector }.toMap)

  /** Returns whether a batch with these limits can take no more records than those that are reported. */
  def fillBatch(limits: ReadLimits): Boolean = locked {
    limits.maxRecords.exists(availableRows >= _) ||
    limits.maxBytes.exists(tracks.valuesIterator.flatMap(_.chunks).map(_.bytes).sum >= _)
  }

  /**
   * Returns how far fetching is behind the tip, in milliseconds, in the least late shard that is open and has records
   * to plan; 0 if there is none. Throws the failure of a consumer, for which no batch waits.
   */
  def millisBehind: Long = locked {
    state.throwFailure()
    tracks.valuesIterator.filter(track => track.chunks.nonEmpty && !track.ended).map(_.millisBehindLatest.getOrElse(0L))
      .minOption.getOrElse(0L)
  }

  /** Returns the preferred location of a task that reads the shard: the executor that holds its records. */
  def location(shard: StreamShard): Option[String] =
    locked(tracks.get(shard).flatMap(state.owner)).map(owner => preference(ExecutorPlace(owner.id, owner.host)))

  /**
   * Returns the coordinator's current figures.
   *
   * @param taken
   *   the end of the last batch
   * @param nowMillis
   *   the current time in epoch milliseconds, to compute the age of records
   * @param limits
   *   the limits with which batches are planned
   * @param usual
   *   maximum time between two answers of a shard that is read without trouble
   */
  def status(
      taken: Option[SourceOffset],
      nowMillis: Long,
      limits: ReadLimits,
      usual: FiniteDuration
  ): CoordinatorStatus = locked {
    val nanos = state.clock.nanoTime
    def fetched(track: ShardTrack) = track.fetchedBehind(nanos, usual.toMillis)
    val open = tracks.valuesIterator.filterNot(_.ended).toVector
    val fetchedBehind = open.flatMap(track => fetched(track).map(track.shard.stream -> _))
    val behind = tracks.valuesIterator.flatMap { track =>
      val planned = taken.flatMap(_.streams.get(track.shard.stream)).flatMap(_.shards.get(track.shard.shard))
      val rate = track.rate.at(nowMillis)
      track.lagMillis(planned, nowMillis, fetched(track)).map(ShardStatus(track.shard, _, rate, track.owner))
    }.toVector
    val ended = tracks.size - open.size
    val withheld = for (offset <- taken; ahead <- limits.maxAheadMillis)
      yield BatchPlanner.withheldRows(offset, state.graphs, available(None), ahead)
    val shards = tracks.valuesIterator.flatMap(_.owner).toVector.groupMapReduce(identity)(_ => 1)(_ + _)
    CoordinatorStatus(
      behind,
      fetchedBehind.map(_._2),
      open.size,
      ended,
      state.peers.keysIterator.map(id => id -> shards.getOrElse(id, 0)).toMap,
      state.peers.valuesIterator.map(_.metrics).foldLeft(state.lostMetrics)(Sums.of(_, _)(_ + _)),
      withheld,
      open.groupMapReduce(_.shard.stream)(_ => 1)(_ + _),
      fetchedBehind.groupMapReduce(_._1)(_._2)(math.max),
      state.peers.iterator.map { case (id, peer) => id -> peer.health }.toMap
    )
  }

  private def available(until: Option[AvailableNowTarget])(shard: StreamShard): Option[ShardAvailability] =
    tracks.get(shard).filterNot(_.isUnproven).map(available(_, until))

  private def available(track: ShardTrack, until: Option[AvailableNowTarget]): ShardAvailability = {
    val chunks = track.chunks.toVector
    val within = until.fold[IndexedSeq[ChunkSummary]](chunks)(_.within(chunks))
    // Records after the target are excluded, so the time up to which the shard was read must not pass the target.
    val told = if (state.lacksNews(track)) 0 else track.readUpToMillis
    val readUpTo = until.fold(told)(target => math.min(told, target.millis))
    val openUpTo = math.max(track.followedMillis, state.openShards.lastOpenMillis(track.shard).getOrElse(0L))
    val childrenSince = if (track.ended) state.childrenSince(track.shard) else None
    val ended = track.ended && within.size == chunks.size
    ShardAvailability(within, ended, readUpTo, childrenSince, openUpTo, track.precededBy)
  }
}
