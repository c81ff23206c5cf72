package org.sparkkinesis.spark.read.query

import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.plan.{AvailableNowTarget, PlannedBatch}
import org.sparkkinesis.spark.coordinator.{MissingStream, PrefetchView, ShardCoordinator, ShardFailed}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.member.StreamMembers

/**
 * Plans the micro-batches of one query from the streams as they are now: streams may join, leave, return and be
 * recreated between two batches. For the query's thread; planning may block.
 *
 * @param ifStarted
 *   returns the coordinator if a stream is read
 * @param coordinator
 *   returns the coordinator, which it starts
 */
final private[query] class BatchPlanning(
    session: StreamSession,
    streams: SourceStreams,
    positions: SourcePositions,
    triggers: TriggerPlanner,
    ifStarted: () => Option[ShardCoordinator],
    coordinator: () => ShardCoordinator
) {
  import BatchPlanning._

  /** The connections that the coordinator has received. */
  private var connected = session.connections
  private var planned: Option[PlannedBatch] = None

  /** Whether a stream was found to be recreated, so that positions in it have to be mended. */
  private var mustMend = false

  /** Whether the end of `Trigger.AvailableNow` is to be fixed when the streams are open. */
  private var endsNow = false

  private def members: Option[StreamMembers] = streams.members

  /** Fixes the end of `Trigger.AvailableNow` when the streams are open. */
  def endWhenOpen(): Unit = endsNow = true

  /**
   * Plans the next batch.
   *
   * @param allAvailable
   *   whether one batch takes every available record, as `Trigger.Once` requires
   */
  def plan(start: SourceOffset, allAvailable: Boolean): Planned = {
    findsRecreated(): Unit
    planFrom(start, allAvailable)
  }

  @scala.annotation.tailrec
  private def planFrom(start: SourceOffset, allAvailable: Boolean): Planned = {
    mustMend = false
    val mended = positions.mend(start)
    val known = positions.linked(mended)
    planUnlessRecreated(mended, known, allAvailable) match {
      case Some(from) => Planned(mended, from, planned)
      case None => planFrom(start, allAvailable)
    }
  }

  /**
   * A position in a stream that was recreated is not valid in the new one, so reading may fail because of it. The end
   * of a shard may show that a stream was recreated while a batch is planned that begins with the shard's children.
   */
  private def planUnlessRecreated(mended: SourceOffset, known: SourceOffset, all: Boolean): Option[SourceOffset] =
    try {
      // What the coordinator knows of a recreated stream is of the old one, and no position is compared with that.
      if (ifStarted().exists(_.knowsOther(known))) advance(session.opened(withoutUnprepared(known)))
      planNow(mended, known, all).filterNot(_ => planned.nonEmpty && isRecreated(positions.checkDoubtful))
    } catch {
      case failed: ShardFailed
          if mustMend || positions.checkRecreated(Set(failed.shard.stream), isUrgent = true).recreated.nonEmpty =>
        None
    }

  /** Checks the streams that may have been recreated. Returns whether one was found since the offset was mended. */
  def findsRecreated(): Boolean = isRecreated(positions.checkDoubtful) || isRecreated(positions.checkUnproven)

  private def isRecreated(check: PrefetchView => Boolean): Boolean = {
    mustMend ||= ifStarted().exists(running => check(running.prefetched))
    mustMend
  }

  /**
   * Plans the next batch from the streams as they are now, and returns its start; `None` if a stream was recreated, so
   * that the start has changed.
   */
  @scala.annotation.tailrec
  private def planNow(mended: SourceOffset, known: SourceOffset, allAvailable: Boolean): Option[SourceOffset] =
    asStreamsAre(mended, known) match {
      case None => None
      case Some(from) =>
        if (endsNow) triggers.endNow()
        endsNow = false
        // The executors need the settings of the first stream that is opened, also for the streams that join later.
        val hasBegun = ifStarted().nonEmpty || from.read.nonEmpty
        if (hasBegun) advance(from)
        planned = if (hasBegun) triggers.plan(from, allAvailable) else None
        // A stream that has no more records may let another one go on, and a shard may have been given up meanwhile.
        if (mustMend) None
        else if (planned.nonEmpty) Some(from)
        else
          asStreamsAre(mended, from) match {
            case Some(next) if next ne from => planNow(mended, next, allAvailable)
            case other => other
          }
    }

  private def advance(to: SourceOffset): Unit = {
    to.read.foreach(stream => coordinator().know(stream.arn, session.shards.seen(stream.arn)))
    coordinator().advance(to, members.fold(Set.empty[String])(_.waiting(to)))
  }

  private def asStreamsAre(mended: SourceOffset, from: SourceOffset): Option[SourceOffset] = {
    members.foreach(leaveMissing(_, from))
    val moved = if (mustMend) None else relinked(mended, members.fold(from)(evolved(_, mended, from)))
    moved.filterNot(_ => mustMend)
  }

  /** Leaves the streams that do not exist any more. One that was recreated since then is read on. */
  private def leaveMissing(members: StreamMembers, from: SourceOffset): Unit = {
    val read = from.read.map(_.arn).toSet
    val gone = ifStarted().fold(Seq.empty[MissingStream])(_.prefetched.missing)
      .filter(one => read(one.stream) && !members.isHeld(one.stream))
    val recreated = positions.returned(gone.map(_.stream).toSet)
    mustMend ||= recreated.nonEmpty
    gone.foreach { one =>
      if (recreated(one.stream)) members.noteRecreated(one.stream, one.isDrained)
      else members.leave(from, one.stream, streams.explain(one), one.isDrained)
    }
  }

  /**
   * Returns the offset without the recreated streams that have no enhanced fan-out consumer, which are held back. The
   * executors must know the others' consumers before shards of them are assigned.
   */
  private def withoutUnprepared(offset: SourceOffset): SourceOffset = members.fold(offset) { members =>
    val unprepared = streams.prepareRecreated(offset)
    unprepared.foreach { case (arn, why) => members.leave(offset, arn, why, isDrained = false) }
    connect()
    if (unprepared.isEmpty) offset else offset.copy(streams = offset.streams -- unprepared.keys)
  }

  /** Tells the coordinator how the streams are reached now. */
  private def connect(): Unit = if (session.connections ne connected) {
    connected = session.connections
    coordinator().connect(connected)
  }

  /**
   * Returns the offset with the remaining descendants of shards that were given up while the query was running; `None`
   * if their stream was recreated.
   */
  private def relinked(mended: SourceOffset, from: SourceOffset): Option[SourceOffset] = {
    val lost = ifStarted().toSeq.flatMap(_.prefetched.lostLineages(from, triggers.target))
    val whole = positions.relinked(mended, from, lost)
    whole.filter(_ ne from).foreach(moved => members.foreach(_.replace(mended, moved)))
    whole
  }

  /** Returns the offset with the streams that joined, left or returned. */
  private def evolved(members: StreamMembers, mended: SourceOffset, from: SourceOffset): SourceOffset = {
    val before = members.last(mended, from)
    val moved = members.evolve(
      mended,
      from,
      isDrained,
      stream => session.initialOffsets.withOldestTime(ifStarted().fold(stream)(_.prefetched.settle(stream)))
    )
    // A stream that joined after the last batch may have been recreated since then.
    val whole = positions.mend(positions.withReturned(before, moved))
    if (whole ne moved) members.replace(mended, whole)
    if (withoutUnprepared(whole) eq whole) whole else evolved(members, mended, whole)
  }

  /** Whether every record of a stream was planned that arrived up to a time. */
  private def isDrained(arn: String, untilMillis: Long): Boolean = {
    def isPlanned = coordinator().prefetched.targets.isDrained(arn, AvailableNowTarget(untilMillis))
    // Nothing is certain about the other streams after one was found to be recreated.
    !mustMend && isPlanned && {
      mustMend = positions.checkDrained(coordinator().prefetched, arn, isLast = members.exists(_.isPinned))
      !mustMend && isPlanned && !coordinator().prefetched.mayBeRecreated(arn)
    }
  }
}

private[query] object BatchPlanning {

  /**
   * @param mended
   *   the start of the batch with recreated streams replaced
   * @param from
   *   the same position as it is read
   * @param batch
   *   `None` if there is nothing to read
   */
  final case class Planned(mended: SourceOffset, from: SourceOffset, batch: Option[PlannedBatch])
}
