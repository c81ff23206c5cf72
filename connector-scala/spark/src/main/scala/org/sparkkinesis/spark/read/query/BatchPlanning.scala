package org.sparkkinesis.spark.read.query

import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.plan.{AvailableNowTarget, PlannedBatch}
import org.sparkkinesis.spark.coordinator.{MissingStream, ShardCoordinator, ShardFailed}
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

  /** The number of streams that had been found to be recreated when the start of the batch was mended. */
  private var mendedAt = 0

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
    findRecreated()
    planFrom(start, allAvailable)
  }

  /** Plans from the offset that Spark has logged, again when a stream is found to be recreated meanwhile. */
  @scala.annotation.tailrec
  private def planFrom(start: SourceOffset, allAvailable: Boolean): Planned = {
    mendedAt = positions.recreations
    val mended = positions.mend(start)
    val known = positions.linked(mended)
    val from = unlessRecreated {
      // What the coordinator knows of a recreated stream is of the old one, and no position is compared with that.
      if (ifStarted().exists(_.knowsOther(known))) advance(session.opened(withoutUnprepared(known)))
      planned = None
      val read = planNow(mended, known, allAvailable)
      if (planned.nonEmpty) findDoubtful()
      read
    }
    from match {
      case Some(read) if !isStale => Planned(mended, read, planned)
      case _ => planFrom(start, allAvailable)
    }
  }

  /**
   * Whether a stream was found to be recreated since the start of the batch was mended. Then the start is not valid,
   * and nothing is certain about the other streams.
   */
  private def isStale: Boolean = positions.recreations != mendedAt

  /**
   * Runs `body`; `None` if it fails because a position is of the old stream. The end of a shard may show that a stream
   * was recreated while a batch is planned that begins with the shard's children.
   */
  private def unlessRecreated[A](body: => A): Option[A] =
    try Some(body)
    catch {
      case failed: ShardFailed
          if isStale || positions.checkRecreated(Set(failed.shard.stream), isUrgent = true).recreated.nonEmpty =>
        None
    }

  /** Checks the streams that may have been recreated. */
  private def findRecreated(): Unit = {
    findDoubtful()
    if (!isStale) ifStarted().foreach(running => positions.checkUnproven(running.prefetched))
  }

  private def findDoubtful(): Unit = ifStarted().foreach(running => positions.checkDoubtful(running.prefetched))

  /** Plans the next batch from the streams as they are now, and returns its start. */
  @scala.annotation.tailrec
  private def planNow(mended: SourceOffset, known: SourceOffset, allAvailable: Boolean): SourceOffset = {
    val from = asStreamsAre(mended, known)
    if (!isStale) {
      if (endsNow) triggers.endNow()
      endsNow = false
      // The executors need the settings of the first stream that is opened, also for the streams that join later.
      if (ifStarted().nonEmpty || from.read.nonEmpty) {
        advance(from)
        planned = triggers.plan(
          from,
          allAvailable,
          isStale = {
            findRecreated()
            isStale
          }
        )
      }
    }
    // A stream that has no more records may let another one go on, and a shard may have been given up meanwhile.
    val next = if (isStale || planned.nonEmpty) from else asStreamsAre(mended, from)
    if (isStale || (next eq from)) from else planNow(mended, next, allAvailable)
  }

  private def advance(to: SourceOffset): Unit = {
    to.read.foreach(stream => coordinator().know(stream.arn, session.shards.seen(stream.arn)))
    coordinator().advance(to, members.fold(Set.empty[String])(_.waiting(to)))
  }

  /** Returns the position of the next batch as the streams are now; it is not valid if a stream was recreated. */
  private def asStreamsAre(mended: SourceOffset, from: SourceOffset): SourceOffset = {
    members.foreach(leaveMissing(_, from))
    if (isStale) from else relinked(mended, members.fold(from)(evolved(_, mended, from)))
  }

  /** Leaves the streams that do not exist any more. One that was recreated since then is read on. */
  private def leaveMissing(members: StreamMembers, from: SourceOffset): Unit = {
    val read = from.read.map(_.arn).toSet
    val gone = ifStarted().fold(Seq.empty[MissingStream])(_.prefetched.missing)
      .filter(one => read(one.stream) && !members.isHeld(one.stream))
    val recreated = positions.returned(gone.map(_.stream).toSet)
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

  /** Returns the offset with the remaining descendants of shards that were given up while the query was running. */
  private def relinked(mended: SourceOffset, from: SourceOffset): SourceOffset = {
    val lost = ifStarted().toSeq.flatMap(_.prefetched.lostLineages(from, triggers.target))
    val whole = positions.relinked(mended, from, lost).getOrElse(from)
    if (whole ne from) members.foreach(_.replace(mended, whole))
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
    // A stream without records may be a new one, which is noticed only if it is described.
    !isStale && isPlanned && {
      positions.checkDrained(coordinator().prefetched, arn, isLast = members.exists(_.isPinned))
      !isStale && isPlanned && !coordinator().prefetched.mayBeRecreated(arn)
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
