package org.sparkkinesis.spark.coordinator

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.consume.MissingResource
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{BufferFilled, BufferFreed, Loss, Losses, ReadFailed, ReportMissed, ShardEnded}
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.shard.Lineage
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState, LatestTime, Overtaken, ShardTrack}
import org.sparkkinesis.spark.protocol.{Release, Report, ShardReport, Unassign}
import org.sparkkinesis.spark.settings.StreamConnection

/**
 * Records progress: the executors' reports, and what the query has planned.
 *
 * @param losses
 *   decides whether a missing shard ends the query
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 * @param streamsMayLeave
 *   whether the query goes on without a stream that does not exist any more
 */
final private[coordinator] class ShardProgress(
    state: CoordinatorState,
    losses: Losses,
    latestMillis: () => Long,
    streamsMayLeave: Boolean = false
) {
  import ShardProgress._
  import state.{locked, tracks}

  private val latestTime = new LatestTime(latestMillis)

  /** Events are emitted after the state is unlocked. */
  private val lost = losses.to(state.note)

  /** Records the listings of the streams. */
  val listings = new ShardListings(state, latestMillis, streamsMayLeave)

  /**
   * Drops planned records here and in the executors.
   *
   * @param waiting
   *   streams of which no record is planned for now
   */
  def advance(to: SourceOffset, waiting: Set[String]): Advance = locked {
    val remade = recreated(to)
    remade.foreach(forget)
    state.throwFailure()
    if (state.heldBack != waiting) {
      state.heldBack = waiting
      state.noteChange()
    }
    val before = state.position
    if ((before eq to) || before == to) Advance(isFirst = false, concernsPlacement = false, concernsDiscovery = false)
    else {
      state.moveTo(to)
      val others = release(before, to)
      val wasRead = state.streams
      state.read(to.read.map(_.arn).toSet)
      val isFirst = before.streams.isEmpty
      val areOthers = before.streams.keySet != to.streams.keySet || wasRead != state.streams || remade.nonEmpty
      Advance(isFirst, others || areOthers, isFirst || (areOthers && !state.streams.forall(state.listed)))
    }
  }

  /** Records the end of a batch, whose records are dropped when [[advance]] is called with it. */
  def notePlanned(end: SourceOffset): Unit = locked(state.notePlanned(end))

  /** Returns the streams that are read and have another creation time than in the last position. */
  def recreated(to: SourceOffset): Set[String] = locked(to.read.filter(stream =>
    state.position.streams.get(stream.arn).exists(_.creationMillis != stream.creationMillis)
  ).map(_.arn).toSet)

  /**
   * Forgets the shards of a stream that was recreated, and their failure, except those that were added last from
   * elsewhere. The executors drop what they have fetched.
   */
  private def forget(stream: String): Unit = {
    val left = state.tracksOf(stream).toVector
    state.unassign(left)
    val shards = left.map(_.shard)
    tracks --= shards
    state.givenUp.remove(shards)
    state.openShards.forget(Set(stream))
    state.forgive { case failed: ShardFailed => failed.shard.stream == stream }
    listings.forget(stream)
    state.noteChange()
  }

  /** Sets how streams are reached that joined. Streams whose connections changed are assigned again. */
  def connect(connections: Map[String, StreamConnection]): Boolean = locked {
    val changed = connections.filter { case (arn, now) => state.connections.get(arn).exists(_ != now) }.keySet
    state.connections ++= connections
    val lost = tracks.valuesIterator.filter(track => changed(track.shard.stream)).toVector
    state.unassign(lost)
    lost.foreach(state.lose)
    if (lost.nonEmpty) state.noteChange()
    lost.nonEmpty
  }

  /** Records a report. Returns what must be checked again because of it. */
  def accept(report: Report): Heard = locked {
    state.peers.get(report.executorId).filter(_.instance == report.instance).fold(Heard(false, false)) { from =>
      val mustName = hear(from, report)
      val (own, others) =
        report.shards.partition(told => tracks.get(told.shard).exists(_.owner.contains(from.id)))
      // The shard was taken from this executor, or assigned to another one while this one was unreachable.
      if (others.nonEmpty) from.tell(Unassign(others.map(_.shard)))
      // Chunks before this report may be missing, so its read time and its end of shard do not count yet.
      val certain = if (from.lacksNews) own.map(_.copy(readUpToMillis = 0, openUpToMillis = 0, end = None)) else own
      val planned = certain.flatMap(acceptShard(_, report.full))
      if (planned.nonEmpty) from.tell(Release(planned))
      val lost = mustName.exists(loseUnnamed(from, report, _))
      certain.foreach(told => if (told.readUpToMillis > 0) state.unreachable.reached(from.id, told.shard.stream))
      state.noteChange()
      val ended = certain.exists(told => told.end.nonEmpty || told.failure.nonEmpty)
      Heard(ended && state.streamsToList.nonEmpty, ended || lost || from.unreachable.nonEmpty)
    }
  }

  private def hear(from: ConsumerPeer, report: Report): Option[Long] = {
    val (wasFull, missed) = (from.bufferIsFull, from.missedReports)
    val mustName = from.hear(report, state.epoch)
    if (from.bufferIsFull && !wasFull) state.note(BufferFilled(from.id))
    if (wasFull && !from.bufferIsFull) state.note(BufferFreed(from.id))
    from.outageEvents().foreach(state.note)
    if (from.missedReports > missed) state.note(ReportMissed(from.id))
    mustName
  }

  /**
   * Drops planned records here and in the executors, including shards without a report, because a late owner may
   * still be fetching them. Returns true if the set of shards to read has changed.
   */
  private def release(before: SourceOffset, to: SourceOffset): Boolean = {
    val finished = mutable.HashMap.empty[String, mutable.ArrayBuffer[(StreamShard, SequenceNumber)]]
    val others = to.streams.valuesIterator.map { stream =>
      val known = before.streams.get(stream.arn).fold(SortedMap.empty[ShardId, ShardPosition])(_.shards)
      var isOther = known.size != stream.shards.size
      stream.shards.foreachEntry { (id, position) =>
        val was = known.get(id)
        if (!was.contains(position)) {
          if (was.isEmpty || position == ShardPosition.ShardEnd) isOther = true
          tracks.get(StreamShard(stream.arn, id)).foreach(track =>
            drop(track, position).foreach { case (owner, upTo) =>
              finished.getOrElseUpdate(owner, mutable.ArrayBuffer.empty) += track.shard -> upTo
            }
          )
        }
      }
      isOther
    }
    val concernsPlacement = others.foldLeft(false)(_ | _)
    finished.foreachEntry((owner, numbers) => state.peers.get(owner).foreach(_.tell(Release(numbers.toVector))))
    concernsPlacement
  }

  /** Returns the executor that must drop records of a shard, and the last sequence number to drop. */
  private def drop(track: ShardTrack, planned: ShardPosition): Option[(String, SequenceNumber)] =
    track.owner.flatMap { owner =>
      val dropped = track.dropPlanned(planned)
      val upTo = planned match {
        case ShardPosition.After(number, _) => Some(number)
        case _ => dropped
      }
      upTo.map(owner -> _)
    }

  /** Records one shard's report. Returns the last sequence number that was planned already, if there is one. */
  private def acceptShard(told: ShardReport, replaces: Boolean): Option[(StreamShard, SequenceNumber)] =
    tracks.get(told.shard).filter(_.epoch == told.epoch).flatMap { track =>
      val hadEnded = track.ended
      val planned = state.position.streams.get(track.shard.stream).flatMap(_.shards.get(track.shard.shard))
      planned.foreach(track.planned)
      val latest = latestTime.at(told)
      // An answer of a closed shard may have its end only, if all records that were left have expired.
      // A full report repeats what was read long ago. After a lost report, records are planned before a time counts.
      val hasNews = told.chunks.lastOption.exists(chunk => track.isNew(chunk.last))
      if (told.readUpToMillis > track.readUpToMillis || hasNews || (told.end.nonEmpty && !hadEnded))
        track.readBefore(planned).orElse(state.unreadSince(track.shard)).foreach(until =>
          state.readLate(Overtaken(track.shard, until, latest - until))
        )
      track.accept(told, replaces)
      if (told.reads > 0) track.noteAnswer(state.clock.nanoTime)
      // Records that a lost owner had reported are missing in a stream that was recreated.
      if (told.chunks.nonEmpty || told.end.nonEmpty || track.lacksLostRecords) track.noteNews(state.clock.nanoTime)
      told.failure.foreach(giveUp(track, _))
      told.end.foreach { children =>
        val stream = track.shard.stream
        state.openShards.end(track.shard)
        if (!hadEnded) state.note(ShardEnded(stream, track.shard.shard, children.map(_.id)))
        val known = children.map(Lineage.named(_, track.shard.shard))
        if (state.graphs(stream).contradictsChildren(known)) state.doubtful += stream
        state.graphs += stream -> state.graphs(stream).withChildren(known)
      }
      planned.flatMap(track.dropPlanned).map(track.shard -> _)
    }

  /**
   * Releases shards that a full report does not name: the executor never received their assignment, so they are
   * assigned again.
   */
  private def loseUnnamed(from: ConsumerPeer, report: Report, upToEpoch: Long): Boolean = {
    val named = report.shards.iterator.map(told => told.shard -> told.epoch).toSet
    val unnamed = tracks.valuesIterator.filter { track =>
      track.owner.contains(from.id) && track.epoch <= upToEpoch && !named(track.shard -> track.epoch)
    }.toVector
    unnamed.foreach(state.lose)
    unnamed.nonEmpty
  }

  /**
   * Handles a shard that cannot be read. A missing shard is treated as ended; the user's option decides whether that
   * is an error.
   */
  private def giveUp(track: ShardTrack, error: ServiceException): Unit =
    // Each full report repeats the failure.
    if (track.isGone) track.noteGone()
    else if (MissingResource.of(error).contains(MissingResource.Shard))
      try {
        lost.report(Loss.ShardGone(track.shard, track.shard.stream, error))
        track.noteGone()
        state.givenUp.add(track.shard)
        state.doubtful += track.shard.stream
      } catch { case loss: KinesisConnectorException => state.fail(loss) }
    else {
      state.note(ReadFailed(track.shard.stream, track.shard.shard, error.getMessage))
      val failure = new ShardFailed(track.shard, error)
      if (streamsMayLeave && MissingResource.of(error).contains(MissingResource.Stream))
        listings.miss(track.shard.stream, failure)
      else state.fail(failure)
    }
}

private[coordinator] object ShardProgress {

  /**
   * @param isFirst
   *   whether the query has just started
   * @param concernsPlacement
   *   whether the set of shards to read has changed
   * @param concernsDiscovery
   *   whether a stream is read that was not listed yet
   */
  final case class Advance(isFirst: Boolean, concernsPlacement: Boolean, concernsDiscovery: Boolean)

  /**
   * @param concernsDiscovery
   *   whether a shard has ended and its children, or their other parents, are not all known
   * @param concernsPlacement
   *   whether a shard has ended, must be assigned again, or is owned by an executor that cannot reach its stream
   */
  final case class Heard(concernsDiscovery: Boolean, concernsPlacement: Boolean)
}
