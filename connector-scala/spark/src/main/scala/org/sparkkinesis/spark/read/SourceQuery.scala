package org.sparkkinesis.spark.read

import java.util.UUID

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.config.{Options, PositionOption, ReadOptions, Registration}
import org.sparkkinesis.consume.{MissingResource, RangeEnd}
import org.sparkkinesis.event.{BatchPlanned, QueryStarted, QueryStopped}
import org.sparkkinesis.model.{HashKeyRange, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.plan._
import org.sparkkinesis.spark.connection.{Environment, ServiceFailure}
import org.sparkkinesis.spark.coordinator.{ExecutorCluster, PrefetchView, ShardCoordinator, ShardFailed}
import org.sparkkinesis.spark.session.{
  CheckpointCheck,
  CheckpointFiles,
  FanOutConsumers,
  InitialOffsetStore,
  ReadUpToStore,
  RegisteredConsumers,
  StreamSession
}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * A running streaming query's source, apart from Spark's interfaces: plans each micro-batch from what the consumers in the executors
 * report, as an exact range for each shard. For the query's thread, which waits in it.
 *
 * @param files
 *   beside the query's checkpoint
 * @param limits
 *   of one micro-batch
 * @param minimum
 *   rows that a running trigger waits for
 */
final class SourceQuery(
    session: StreamSession,
    files: CheckpointFiles,
    cluster: ExecutorCluster,
    limits: ReadLimits,
    minimum: Option[MinimumRecords],
    environment: Environment = Environment.OfJvm
) {
  import SourceQuery._
  import environment.clock

  /** Under which the executors know the consumers of this query. */
  val sourceId: String = UUID.randomUUID().toString

  private val options: Options = session.options
  private var target: Option[AvailableNowTarget] = None

  /** The consumers have told, of every shard, what was there when the query began. */
  private var hasLooked = false
  private lazy val atBegin = AvailableNowTarget(clock.currentMillis)
  private var lastBatchNanos = clock.nanoTime
  private var planned: Option[PlannedBatch] = None

  /** The changes that were heard, and the start, when there was nothing to plan. */
  private var nothingAt: Option[(Long, SourceOffset)] = None
  private var planningNanos = 0L
  private val ranges = mutable.HashMap.empty[String, Map[ShardId, HashKeyRange]]
  private val checkpoint = new CheckpointCheck(session, environment)
  private lazy val readUpTo = new ReadUpToStore(files)
  private var readUpToNanos = clock.nanoTime - NotePeriod.toNanos
  private val beganNanos = clock.nanoTime
  private var isStarted = false

  /** Whether this run chose where the query begins, rather than finding it in the checkpoint. */
  private var choseBeginning = false
  private var batches = 0L
  private var rows = 0L
  private var coordinatorIfStarted: Option[ShardCoordinator] = None

  private val fanOut = Option.when(FanOutConsumers.isWanted(options))(
    session.fanOutConsumers(new RegisteredConsumers(files, _))
  )
  if (options(ReadOptions.registration) == Registration.Eager)
    try fanOut.foreach(_.ensure(session.streams.values))
    catch {
      // Nobody else can stop what was never made.
      case failure: Throwable =>
        stop()
        throw failure
    }

  /** With the consumers that are registered now, when the query starts, unless they were before. */
  private lazy val settings: ReadSettings =
    session.settings.copy(fanOut = fanOut.map(_.ensure(session.streams.values)))

  private lazy val coordinator: ShardCoordinator = {
    val started = new ShardCoordinator(
      cluster,
      sourceId,
      settings,
      session.streams.keys.toSeq,
      session.listShards(_),
      options(ReadOptions.shardFetchInterval).toMillis,
      environment = environment
    )
    coordinatorIfStarted = Some(started)
    started
  }

  private def prefetched: PrefetchView = coordinator.prefetched

  private def position: PositionOption =
    options.get(ReadOptions.initialPosition).getOrElse(PositionOption(StartingPosition.Latest))

  /** Where the query began, also when it is started from its checkpoint. */
  lazy val initialOffset: SourceOffset =
    checkpoint.mend(new InitialOffsetStore(files).getOrElseUpdate {
      choseBeginning = true
      session.initialOffset(position, clock.currentMillis)
    })

  private def noteStart(from: SourceOffset): Unit = if (!isStarted) {
    isStarted = true
    from.streams.values.foreach { stream =>
      val shards = stream.shards.toSeq.map { case (shard, at) => shard -> at.resumeAt }
      session.events.emit(QueryStarted(stream.arn, options(ReadOptions.consumerMode).word, !choseBeginning, shards))
    }
  }

  /** `Trigger.AvailableNow` reads up to this moment. */
  def prepareForAvailableNow(): Unit = target = Some(AvailableNowTarget(clock.currentMillis))

  /**
   * Where the next micro-batch ends, or none when there is nothing to read.
   *
   * @param allAvailable
   *   one batch for everything that is there, as `Trigger.Once` wants it
   */
  def latestOffset(start: SourceOffset, allAvailable: Boolean): Option[SourceOffset] = explained {
    val mended = checkpoint.mend(start)
    val known = readUpTo.of(mended)
    val from = if (choseBeginning) known else checkpoint.link(known)
    // What this run chose cannot have expired before it.
    if (!isStarted && !choseBeginning) checkpoint.warnOfExpired(from)
    noteStart(from)
    from.streams.keys.foreach(arn => coordinator.know(arn, checkpoint.listed(arn)))
    coordinator.advance(from)
    planned = if (allAvailable) planOnce(from) else target.fold(planNow(from))(planUntil(from, _))
    if (planned.isEmpty) noteReadUpTo(mended, from, isLast = allAvailable || target.nonEmpty)
    planned.foreach { batch =>
      lastBatchNanos = clock.nanoTime
      batches += 1
      rows += batch.rows
      session.events.emit(BatchPlanned(batch.rows, batch.bytes, planningNanos / 1000))
    }
    planned.map(_.end)
  }

  /** A running trigger asks every few milliseconds, and there may be thousands of shards. */
  private def noteReadUpTo(offset: SourceOffset, from: SourceOffset, isLast: Boolean): Unit =
    if (isLast || clock.nanoTime - readUpToNanos >= NotePeriod.toNanos) {
      readUpToNanos = clock.nanoTime
      readUpTo.note(offset, prefetched.settle(from, target))
    }

  private def plan(from: SourceOffset, limits: ReadLimits, until: Option[AvailableNowTarget]): Option[PlannedBatch] = {
    val began = clock.nanoTime
    val batch = prefetched.plan(from, limits, until)
    if (batch.nonEmpty) planningNanos = clock.nanoTime - began
    batch
  }

  /**
   * A running trigger: what is there, or nothing yet. "Nothing" is not said before the consumers have looked at every shard: until then
   * it would be a guess, and `processAllAvailable` returns on it.
   */
  @scala.annotation.tailrec
  private def planNow(from: SourceOffset): Option[PlannedBatch] = {
    val seen = prefetched.changes
    // Spark asks again every few milliseconds. Only a minimum also depends on the time.
    if (minimum.isEmpty && nothingAt.exists { case (changes, start) => changes == seen && (start eq from) }) None
    else {
      hasLooked ||= prefetched.everythingIsFetched(atBegin)
      val sinceLast = (clock.nanoTime - lastBatchNanos) / 1000000
      val enough = minimum.forall(_.isReached(prefetched.availableRows, sinceLast, prefetched.bufferIsFull))
      val batch = if (enough) plan(from, limits, None) else None
      nothingAt = Option.when(batch.isEmpty && hasLooked)((seen, from))
      if (batch.nonEmpty || hasLooked) batch
      else {
        prefetched.awaitChange(seen, LongestWaitMillis)
        planNow(from)
      }
    }
  }

  /** `Trigger.AvailableNow`: waits, since "nothing" would end the query. */
  @scala.annotation.tailrec
  private def planUntil(from: SourceOffset, until: AvailableNowTarget): Option[PlannedBatch] = {
    val seen = prefetched.changes
    val batch = plan(from, limits, Some(until))
    if (batch.nonEmpty || prefetched.isReached(until)) batch
    else {
      prefetched.awaitChange(seen, LongestWaitMillis)
      planUntil(from, until)
    }
  }

  /** `Trigger.Once`: one batch for everything that is there, also when memory cannot hold it: tasks then read it from the service. */
  private def planOnce(from: SourceOffset): Option[PlannedBatch] = {
    val until = target.getOrElse(AvailableNowTarget(clock.currentMillis))
    @scala.annotation.tailrec
    def untilFetched(): Option[PlannedBatch] = {
      val seen = prefetched.changes
      if (prefetched.everythingIsFetched(until)) plan(from, ReadLimits.Unlimited, Some(until))
      else {
        if (prefetched.bufferIsFull) prefetched.readAhead()
        prefetched.awaitChange(seen, LongestWaitMillis)
        untilFetched()
      }
    }
    untilFetched()
  }

  /**
   * The tasks that read what lies between two offsets.
   *
   * @param slots
   *   how many tasks can run at once
   */
  def tasks(start: SourceOffset, end: SourceOffset, slots: Int): Seq[TaskRanges] = explained {
    val began = clock.nanoTime
    val from = checkpoint.mend(start)
    noteStart(from)
    val ranges = TaskPlanner.ranges(
      from,
      checkpoint.mend(end),
      shard => prefetched.lastOfEnded(shard).map(RangeEnd.At(_)),
      hashKeyRange
    )
    val perTask = options.get(ReadOptions.shardsPerTask).map(_.toInt)
    val tasks = TaskPlanner.tasks(ranges, prefetched.location, perTask, slots)
    planningNanos += clock.nanoTime - began
    tasks
  }

  /** A batch that runs again after a restart is read before any listing, and must be filtered as it was at first. */
  private def hashKeyRange(shard: StreamShard): Option[HashKeyRange] = prefetched.hashKeyRange(shard).orElse(
    if (options(ReadOptions.deaggregationHashRangeFilter)) listedRanges(shard.stream).get(shard.shard) else None
  )

  private def listedRanges(stream: String): Map[ShardId, HashKeyRange] = ranges.getOrElseUpdate(
    stream,
    session.allShards(stream).map(shard => shard.id -> shard.hashKeyRange).toMap
  )

  /** What the tasks read with. */
  def readSettings: ReadSettings = session.settings

  def stop(): Unit = {
    coordinatorIfStarted.foreach(_.close())
    fanOut.foreach(_.close())
    session.close()
    session.events.emit(QueryStopped(batches, rows, (clock.nanoTime - beganNanos) / 1000000))
  }

  /**
   * What the query's progress shows of this source.
   *
   * @param taken
   *   where the last batch ended, when this run of the query has planned none
   */
  def metrics(taken: Option[SourceOffset]): Map[String, String] =
    coordinatorIfStarted.fold(Map.empty[String, String]) { running =>
      val status = running.prefetched.status(planned.map(_.end).orElse(taken), clock.currentMillis)
      SourceMetrics.of(status, planned, planningNanos)
    }

  private def explained[A](body: => A): A =
    try body
    catch {
      case failed: ShardFailed if MissingResource.of(failed.error).contains(MissingResource.Consumer) =>
        throw FanOutConsumers.isGone(failed.error, failed.shard.stream, settings)
      case failed: ShardFailed =>
        throw ServiceFailure.explain(failed.error, failed.shard.toString, settings.client(failed.shard.stream))
    }
}

private object SourceQuery {

  /** A wait always ends by itself, so that what was missed for any reason is seen. */
  val LongestWaitMillis = 1000L

  /** How often it is looked whether more is known than was noted. */
  val NotePeriod: FiniteDuration = 1.minute
}
