package org.sparkkinesis.spark.read.query

import java.util.UUID

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.event.{BatchPlanned, QueryStopped}
import org.sparkkinesis.metadata.StreamMetadataService
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.coordinator.cluster.ExecutorCluster
import org.sparkkinesis.spark.coordinator.{MissingStream, PrefetchView, ShardCoordinator, ShardFailed}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles
import org.sparkkinesis.spark.session.member.StreamMembers
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * The source of one running streaming query, without Spark's interfaces. It plans each micro-batch from the reports
 * of the executors' consumers, as an exact range for each shard. For the query's thread; its methods may block.
 *
 * @param files
 *   files in the query's checkpoint directory
 * @param limits
 *   limits of one micro-batch
 * @param minimum
 *   minimum number of rows for which a processing-time trigger waits
 * @param metadata
 *   names the physical streams of a query that reads logical streams; this query closes it
 */
final class SourceQuery(
    val session: StreamSession,
    files: CheckpointFiles,
    cluster: ExecutorCluster,
    limits: ReadLimits,
    minimum: Option[MinimumRecords],
    val environment: Environment = Environment.OfJvm,
    metadata: Option[StreamMetadataService] = None
) {
  import environment.clock

  /** Identifies this query's consumers in the executors. */
  val sourceId: String = UUID.randomUUID().toString

  private val options: Options = session.options
  private val streams = new SourceStreams(session, files, environment, metadata)
  private[read] val positions = new SourcePositions(session, files, streams, environment)
  private val triggers = new TriggerPlanner(
    coordinator.prefetched,
    limits,
    minimum,
    session.serviceClock,
    positions.retention.oldestMillis(_),
    () => findsRecreated(),
    clock
  )
  private val ranges = new BatchRanges(session, positions.retention, prefetched.hashKeyRange(_), environment)

  /** The connections that the coordinator has received. */
  private var connected = session.connections
  private var planned: Option[PlannedBatch] = None

  /** The end of the last batch of this run, or the offset at which there was nothing to plan. */
  private var current: Option[SourceOffset] = None
  private val beganNanos = clock.nanoTime
  private var batches = 0L
  private var rows = 0L
  private var coordinatorIfStarted: Option[ShardCoordinator] = None

  /** Whether a stream was found to be recreated, so that positions in it have to be mended. */
  private var mustMend = false

  private def members: Option[StreamMembers] = streams.members

  /**
   * Opens the streams of a pattern for the whole run, for a trigger whose streams cannot change. Call it before
   * everything else.
   */
  def fixStreams(): Unit = streams.fix()

  private lazy val coordinator: ShardCoordinator = {
    val started = new ShardCoordinator(
      cluster,
      sourceId,
      streams.settings,
      session.streams.keys.toSeq,
      session.listShards(_),
      options(ReadOptions.shardFetchInterval).toMillis,
      () => session.serviceClock.atLeast,
      () => session.serviceClock.latestPossible,
      environment = environment,
      streamsMayLeave = members.nonEmpty
    )
    coordinatorIfStarted = Some(started)
    started
  }

  private def prefetched: PrefetchView = coordinator.prefetched

  /** The initial offset of the query, also when it restarts from its checkpoint. */
  def initialOffset: SourceOffset = positions.initial

  /** Whether the end of `Trigger.AvailableNow` is to be fixed when the streams are open. */
  private var endsNow = false

  /**
   * Fixes the service's current time as the end for `Trigger.AvailableNow`. The service's clock is known when streams
   * are open, which streams that come and go are at the first batch.
   */
  def prepareForAvailableNow(): Unit = {
    members.foreach(_.pin())
    if (members.isEmpty) triggers.endNow() else endsNow = true
  }

  /**
   * Plans the next micro-batch. Returns its end, or `None` when there is nothing to read.
   *
   * @param allAvailable
   *   whether one batch takes every available record, as `Trigger.Once` requires
   */
  def latestOffset(start: SourceOffset, allAvailable: Boolean): Option[SourceOffset] = explained {
    members.foreach(_.check(start))
    if (allAvailable) members.foreach(_.pin())
    findsRecreated()
    val (mended, from) = planFrom(start, allAvailable)
    planned = planned.map(_.withArrivals(mended))
    val isLast = allAvailable || (planned.isEmpty && triggers.target.nonEmpty)
    coordinatorIfStarted.foreach { running =>
      val late = running.prefetched.takeOvertaken()
      positions.reportOvertaken(late, isLast)
      // An executor whose machine was suspended would report the same shards again.
      if (late.nonEmpty) running.tellTime()
      if (planned.isEmpty) positions.readUpTo.noteAtTimes(mended, isLast) {
        val upTo = settled(running.prefetched, from)
        // The next plan begins with these times, also for a shard whose next owner has no answer yet.
        if (upTo.isTimed) members.foreach(_.replace(mended, upTo))
        upTo
      }
    }
    planned.foreach { batch =>
      triggers.noteBatch()
      batches += 1
      rows += batch.rows
      session.events.emit(BatchPlanned(batch.rows, batch.bytes, triggers.planningNanos / 1000))
    }
    current = Some(planned.fold(mended)(_.end))
    planned.foreach { batch =>
      coordinatorIfStarted.foreach(_.notePlanned(batch.end))
      members.foreach(_.note(batch.end))
    }
    planned.map(_.end)
  }

  /**
   * Returns how far the streams were read. Shards that were read late are taken after that, so that the checkpoint has
   * no time after records that expired without a report.
   */
  private def settled(read: PrefetchView, from: SourceOffset): SourceOffset = {
    val upTo = read.settle(from, triggers.target)
    positions.retention.keep(read.takeOvertaken())
    upTo
  }

  /** Plans the next batch. Returns its start with recreated streams replaced, and the same position as it is read. */
  @scala.annotation.tailrec
  private def planFrom(start: SourceOffset, allAvailable: Boolean): (SourceOffset, SourceOffset) = {
    mustMend = false
    val mended = positions.mend(start)
    val known = positions.linked(mended)
    planUnlessRecreated(mended, known, allAvailable) match {
      case Some(from) => (mended, from)
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
      if (coordinatorIfStarted.exists(_.knowsOther(known))) advance(session.opened(withoutUnprepared(known)))
      plan(mended, known, all).filterNot(_ => planned.nonEmpty && isRecreated(positions.checkDoubtful))
    } catch {
      case failed: ShardFailed
          if mustMend || positions.checkRecreated(Set(failed.shard.stream), isUrgent = true).recreated.nonEmpty =>
        None
    }

  /** Checks the streams that may have been recreated. Returns whether one was found since the offset was mended. */
  private def findsRecreated(): Boolean = isRecreated(positions.checkDoubtful) || isRecreated(positions.checkUnproven)

  private def isRecreated(check: PrefetchView => Boolean): Boolean = {
    mustMend ||= coordinatorIfStarted.exists(running => check(running.prefetched))
    mustMend
  }

  /**
   * Plans the next batch from the streams as they are now, and returns its start; `None` if a stream was recreated, so
   * that the start has changed.
   */
  @scala.annotation.tailrec
  private def plan(mended: SourceOffset, known: SourceOffset, allAvailable: Boolean): Option[SourceOffset] =
    asStreamsAre(mended, known) match {
      case None => None
      case Some(from) =>
        if (endsNow) triggers.endNow()
        endsNow = false
        // The executors need the settings of the first stream that is opened, also for the streams that join later.
        val hasBegun = coordinatorIfStarted.nonEmpty || from.read.nonEmpty
        if (hasBegun) advance(from)
        planned = if (hasBegun) triggers.plan(from, allAvailable) else None
        // A stream that has no more records may let another one go on, and a shard may have been given up meanwhile.
        if (mustMend) None
        else if (planned.nonEmpty) Some(from)
        else
          asStreamsAre(mended, from) match {
            case Some(next) if next ne from => plan(mended, next, allAvailable)
            case other => other
          }
    }

  private def advance(to: SourceOffset): Unit = {
    to.read.foreach(stream => coordinator.know(stream.arn, session.shards.seen(stream.arn)))
    coordinator.advance(to, members.fold(Set.empty[String])(_.waiting(to)))
  }

  private def asStreamsAre(mended: SourceOffset, from: SourceOffset): Option[SourceOffset] = {
    members.foreach(leaveMissing(_, from))
    val moved = if (mustMend) None else relinked(mended, members.fold(from)(evolved(_, mended, from)))
    moved.filterNot(_ => mustMend)
  }

  /** Leaves the streams that do not exist any more. One that was recreated since then is read on. */
  private def leaveMissing(members: StreamMembers, from: SourceOffset): Unit = {
    val read = from.read.map(_.arn).toSet
    val gone = coordinatorIfStarted.fold(Seq.empty[MissingStream])(_.prefetched.missing)
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
    coordinator.connect(connected)
  }

  /**
   * Returns the offset with the remaining descendants of shards that were given up while the query was running; `None`
   * if their stream was recreated.
   */
  private def relinked(mended: SourceOffset, from: SourceOffset): Option[SourceOffset] = {
    val lost = coordinatorIfStarted.toSeq.flatMap(_.prefetched.lostLineages(from, triggers.target))
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
      stream => session.withOldestTime(coordinatorIfStarted.fold(stream)(_.prefetched.settle(stream)))
    )
    // A stream that joined after the last batch may have been recreated since then.
    val whole = positions.mend(positions.withReturned(before, moved))
    if (whole ne moved) members.replace(mended, whole)
    if (withoutUnprepared(whole) eq whole) whole else evolved(members, mended, whole)
  }

  /** Whether every record of a stream was planned that arrived up to a time. */
  private def isDrained(arn: String, untilMillis: Long): Boolean = {
    def isPlanned = prefetched.isDrained(arn, AvailableNowTarget(untilMillis))
    // Nothing is certain about the other streams after one was found to be recreated.
    !mustMend && isPlanned && {
      mustMend = positions.checkDrained(prefetched, arn, isLast = members.exists(_.isPinned))
      !mustMend && isPlanned
    }
  }

  /** The settings of the consumers, whose enhanced fan-out consumers are registered. */
  private[sparkkinesis] def consumerSettings: ReadSettings = streams.settings

  /** Returns what the driver holds of each shard; nothing before the first batch is planned. */
  private[sparkkinesis] def summaries: Map[StreamShard, Seq[ChunkSummary]] =
    coordinatorIfStarted.fold(Map.empty[StreamShard, Seq[ChunkSummary]])(_.prefetched.summaries)

  /**
   * Returns the tasks that read the records between two offsets.
   *
   * @param slots
   *   number of tasks that can run at once
   */
  def tasks(start: SourceOffset, end: SourceOffset, slots: Int): Seq[TaskRanges] = explained {
    val began = clock.nanoTime
    val begin = positions.mend(start)
    streams.changing.openForBatch(begin, end)
    val from = positions.mend(streams.changing.withJoined(start, end))
    val to = session.opened(positions.mend(end))
    positions.noteStart(from)
    val own = Option.when(current.contains(to))(planned.getOrElse(PlannedBatch(to, rows = 0, bytes = 0)))
    // If a stream was dropped and joins in the batch again, its stored position is from before that.
    def readUpTo = {
      val stored = positions.readUpTo.of(begin).streams.filter { case (arn, _) =>
        begin.streams.get(arn).forall(from.streams.get(arn).contains)
      }
      session.opened(from.copy(streams = from.streams ++ stored))
    }
    val read = ranges.of(from, to, own, readUpTo)
    val perTask = options.get(ReadOptions.shardsPerTask).map(_.toInt)
    val tasks =
      TaskPlanner.tasks(read, prefetched.location, perTask, slots, TaskPlanner.streamsInOrder(from, to, read))
    triggers.notePlanning(clock.nanoTime - began)
    tasks
  }

  /** Returns the logical streams of what a task reads by the ARN of the physical ones, if the query reads such. */
  def streamIds(task: TaskRanges, end: SourceOffset): Map[String, String] = streams.ids(task, end)

  /** The settings of the tasks. */
  def readSettings: ReadSettings = session.settings

  /** Records that no batch before this offset runs again. */
  def committed(end: SourceOffset): Unit = members.foreach(_.committed(end))

  def stop(): Unit = {
    for (running <- coordinatorIfStarted; offset <- current)
      positions.readUpTo.noteAtStop(offset)(settled(running.prefetched, positions.readPosition(offset)))
    streams.stopChanging()
    coordinatorIfStarted.foreach(_.close())
    streams.close()
    session.close()
    session.events.emit(QueryStopped(batches, rows, (clock.nanoTime - beganNanos) / 1000000))
  }

  /**
   * Returns the metrics for the query's progress.
   *
   * @param taken
   *   the end of the last batch, used when this run of the query has planned none
   */
  def metrics(taken: Option[SourceOffset]): Map[String, String] =
    coordinatorIfStarted.fold(Map.empty[String, String]) { running =>
      val status = running.prefetched.status(planned.map(_.end).orElse(taken), session.serviceClock.atLeast, limits)
      SourceMetrics.of(status, planned, triggers.planningNanos)
    } ++ members.fold(Map.empty[String, String])(_.metrics(current.orElse(taken)))

  /** Runs `body`, and explains the failure of a consumer. */
  private[read] def explained[A](body: => A): A =
    try body
    catch { case failed: ShardFailed => throw streams.explain(failed) }
}
