package org.sparkkinesis.spark.read.query

import java.util.UUID

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.config.value.ConsumerMode
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.event.{BatchPlanned, QueryStopped}
import org.sparkkinesis.metadata.StreamMetadataService
import org.sparkkinesis.metric.{BatchFigures, Gauges, ReadSummaries, SourceFigures}
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan._
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.coordinator.cluster.ExecutorCluster
import org.sparkkinesis.spark.coordinator.{CoordinatorStatus, PrefetchView, ShardCoordinator, ShardFailed}
import org.sparkkinesis.spark.metric.PublishedGauges
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
  import SourceQuery._
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
    clock
  )
  private val planning =
    new BatchPlanning(session, streams, positions, triggers, () => coordinatorIfStarted, () => coordinator)
  private val ranges = new BatchRanges(session, positions.retention, prefetched.hashKeyRange(_), environment)

  /** The last batch, and its number and state. Other threads read them for gauges and summaries. */
  @volatile private var planned: Option[PlannedBatch] = None
  @volatile private var batch: Option[Batch] = None

  /** The end of the last batch of this run, or the offset at which there was nothing to plan. */
  @volatile private var current: Option[SourceOffset] = None
  private val beganNanos = clock.nanoTime
  private var rows = 0L
  @volatile private var coordinatorIfStarted: Option[ShardCoordinator] = None

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
      streamsMayLeave = members.nonEmpty,
      onPeriod = () => if (coordinatorIfStarted.nonEmpty) show()
    )
    coordinatorIfStarted = Some(started)
    gauges.changed()
    started
  }

  private def prefetched: PrefetchView = coordinator.prefetched

  /** The initial offset of the query, also when it restarts from its checkpoint. */
  def initialOffset: SourceOffset = positions.initial

  /**
   * Fixes the service's current time as the end for `Trigger.AvailableNow`. The service's clock is known when streams
   * are open, which streams that come and go are at the first batch.
   */
  def prepareForAvailableNow(): Unit = {
    members.foreach(_.pin())
    if (members.isEmpty) triggers.endNow() else planning.endWhenOpen()
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
    val BatchPlanning.Planned(mended, from, found) = planning.plan(start, allAvailable)
    planned = found.map(_.withArrivals(mended))
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
    planned.foreach { next =>
      triggers.noteBatch()
      batch = Some(Batch(batch.fold(0L)(_.number) + 1, next.rows, next.bytes, isRunning = true, clock.nanoTime))
      rows += next.rows
      session.events.emit(BatchPlanned(next.rows, next.bytes, triggers.planningNanos / 1000))
    }
    current = Some(planned.fold(mended)(_.end))
    planned.foreach { next =>
      coordinatorIfStarted.foreach(_.notePlanned(next.end))
      members.foreach(_.note(next.end))
      if (batch.exists(_.number == 1)) show()
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

  /**
   * The settings of the consumers of real-time tasks, whose enhanced fan-out consumers are registered. The tasks take
   * the records at once, so local files are not needed: a full buffer is back-pressure.
   */
  private[sparkkinesis] def consumerSettings: ReadSettings = streams.settings.copy(diskBytes = 0)

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
    gauges.close()
    streams.stopChanging()
    coordinatorIfStarted.foreach(_.close())
    streams.close()
    session.close()
    session.events.emit(QueryStopped(batch.fold(0L)(_.number), rows, (clock.nanoTime - beganNanos) / 1000000))
  }

  /**
   * Removes what the query registered at the service, when the application ends while the query is running: Spark does
   * not stop it then. Takes a bounded time. May be called from any thread.
   */
  def endWithApplication(): Unit = {
    coordinatorIfStarted.foreach(_.stopConsumers())
    streams.close()
  }

  /**
   * Returns the metrics for the query's progress.
   *
   * @param taken
   *   the end of the last batch, used when this run of the query has planned none
   */
  def metrics(taken: Option[SourceOffset]): Map[String, String] = {
    // Spark asks at the end of a trigger, which may be long before the next one.
    batch = batch.map(_.copy(isRunning = false))
    coordinatorIfStarted.fold(Map.empty[String, String]) { running =>
      val status = statusOf(running, planned.map(_.end).orElse(taken))
      SourceMetrics.of(status, planned, triggers.planningNanos) ++ SourceMetrics.ofFigures(figures(status))
    } ++ members.fold(Map.empty[String, String])(_.metrics(current.orElse(taken)))
  }

  private val readSummaries = new ReadSummaries(clock)
  private val gauges = new PublishedGauges(GaugeSource, clock, () => Gauges.of(label, figures))

  /** The name of the query, else its id. */
  private[read] def label: String = session.settings.query.label

  /** Writes a summary to the log if it is due, and publishes gauges for streams and shards that are new. */
  private def show(): Unit = {
    readSummaries.next(figures).foreach(session.events.emit)
    gauges.changed()
  }

  /** Returns the present figures. Any thread may call it. */
  private[sparkkinesis] def figures: SourceFigures = coordinatorIfStarted.fold(SourceFigures(mode)) { running =>
    val end = planned.map(_.end).orElse(current)
    figures(statusOf(running, end))
  }

  private def statusOf(running: ShardCoordinator, end: Option[SourceOffset]): CoordinatorStatus =
    running.prefetched.status(
      end,
      session.serviceClock.atLeast,
      limits,
      SourceMetrics.UsualSilence + options(ReadOptions.minFetchPeriod)
    )

  private def figures(status: CoordinatorStatus): SourceFigures =
    SourceMetrics.figures(
      status,
      mode,
      retentionMillis(status.openByStream.keySet),
      batch.map { last =>
        BatchFigures(last.number, last.rows, last.bytes, last.isRunning, (clock.nanoTime - last.plannedNanos) / 1000000)
      }
    )

  private[read] def mode: ConsumerMode = options(ReadOptions.consumerMode)

  /** Returns the retention periods of those of these streams that are open. */
  private[read] def retentionMillis(arns: Iterable[String]): Map[String, Long] =
    arns.iterator.filter(session.isOpen).map(arn => arn -> -positions.retention.oldestMillis(arn, 0)).toMap

  /** Runs `body`, and explains the failure of a consumer. */
  private[read] def explained[A](body: => A): A =
    try body
    catch { case failed: ShardFailed => throw streams.explain(failed) }
}

private[sparkkinesis] object SourceQuery {

  /** The name of the source's gauges in Spark's metrics, after application and driver. */
  val GaugeSource = "kinesis.source"

  final private case class Batch(number: Long, rows: Long, bytes: Long, isRunning: Boolean, plannedNanos: Long)
}
