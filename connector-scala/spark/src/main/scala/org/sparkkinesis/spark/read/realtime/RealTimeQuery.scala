package org.sparkkinesis.spark.read.realtime

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.event.{BatchEndedEarly, ChildrenBegun, ShardsNotReported}
import org.sparkkinesis.metric.{BatchFigures, Gauges, ReadSummaries, SourceFigures}
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.plan.realtime.{LiveShards, RealTimeMerge, RealTimePlanner, TaskEnd, WaitingChildren}
import org.sparkkinesis.spark.coordinator.cluster.{ExecutorCluster, ExecutorPlace}
import org.sparkkinesis.spark.executor.ConsumerHosts
import org.sparkkinesis.spark.metric.PublishedGauges
import org.sparkkinesis.spark.read.live.LiveTask
import org.sparkkinesis.spark.read.query.SourceQuery

/**
 * The source of a query in real-time mode, without Spark's interfaces. It divides the shards between the tasks of each
 * batch, and merges their ends into the end of the batch. Records never pass the driver. For the query's thread.
 *
 * @param slots
 *   the slots that all real-time sources share
 */
final private[sparkkinesis] class RealTimeQuery(query: SourceQuery, cluster: ExecutorCluster, slots: RealTimeSlots) {
  import RealTimeQuery._

  private val session = query.session
  private val sourceId = query.sourceId
  private val runId = query.consumerSettings.query.runId
  private val perTask = session.options.get(ReadOptions.shardsPerTask).map(_.toInt)
  private val endsEarly = session.options(ReadOptions.endBatchEarly)
  private val executors = new LiveExecutors(
    () => session.serviceClock.atLeast,
    () => session.serviceClock.latestPossible,
    query.environment.clock,
    session.events,
    finished,
    report => look.accept(report).foreach(note)
  )
  private val look = new FirstLook(() => session.serviceClock.latestPossible)
  private val looks = query.environment.scheduler(s"kinesis-first-look-$sourceId", 1)
  private val endpoint = cluster.open(ConsumerHosts.coordinatorName(sourceId), executors)
  private val lineage = new LiveLineage(query)

  /** The start of the current batch, with its children admitted, and the shards that its tasks read. */
  private var planned: Option[(SourceOffset, Set[StreamShard])] = None

  /** The executor that last read each shard. */
  private var places = Map.empty[StreamShard, ExecutorPlace]
  @volatile private var batch = Option.empty[Begun]
  private var lastEnds = Seq.empty[TaskEnd]
  private var committedEnd = Option.empty[SourceOffset]

  /** The children of the current batch that no task can begin. Guarded by this object, as is `draining`. */
  private var waiting = new WaitingChildren(Set.empty)
  private var draining = Option.empty[CompletableFuture[Unit]]

  /** The ends of batches after which the query reads nothing more. */
  private var drained = Set.empty[SourceOffset]

  slots.join(sourceId)
  RealTimeQueries.ofJvm.add(runId, this)

  /**
   * Ends the current batch, after which the query reads nothing more. The future completes when the batch is committed,
   * so that stopping the query then repeats no record. May be called from any thread.
   */
  def drain(): CompletableFuture[Unit] = {
    val committed = synchronized {
      if (draining.isEmpty) draining = Some(new CompletableFuture[Unit])
      draining.get
    }
    executors.endForGood()
    committed
  }

  /**
   * Records that a batch with this end is committed. With Spark's asynchronous progress, that may be some batches
   * later, and not every batch is stored.
   */
  def committed(end: SourceOffset): Unit = {
    committedEnd = Some(end)
    completeDrain()
  }

  private def completeDrain(): Unit =
    if (committedEnd.exists(drained)) synchronized(draining).foreach(_.complete(()))

  /** Returns the tasks of the batch that begins at this offset. There is at least one. */
  def plan(start: SourceOffset): Vector[LiveTask] = {
    // The tasks hear the time. Without an answer, an event says so, and the next batch asks again.
    session.confirmTime(): Unit
    reportOvertaken()
    val (mended, begin) = begun(start)
    val isDraining = synchronized(draining).nonEmpty
    if (isDraining) {
      drained += start
      completeDrain()
    }
    val all = RealTimePlanner.shards(begin, lineage.graphs)
    val shards = if (isDraining) all.copy(readable = Vector.empty) else all
    synchronized { waiting = new WaitingChildren(shards.finished) }
    val tasks = taskCount(shards)
    val readable = shards.readable.map(_.shard)
    val ofBatch = all.all
    planned = Some(begin -> readable.toSet)
    look.begin(mended, begin, session.shards.lastOpenMillis).foreach(note)
    executors.begin(
      readable.map(shard => shard -> begin.streams(shard.stream).readUntil(shard.shard)).toMap,
      readable.flatMap(shard => session.shards.lastOpenMillis(shard).map(shard -> _)).toMap
    )
    batch = Some(Begun(batch.fold(0L)(_.number) + 1, query.environment.clock.nanoTime))
    gauges.changed()
    summaries.next(figures).foreach(session.events.emit)
    val running = cluster.executors
    val avoided = executors.avoidUnreachable(running.map(_.id))
    RealTimePlanner.runs(shards.readable, tasks).map { run =>
      val preferred = RealTimePlaces.of(run, live => places.get(live.shard), running, avoided)
      LiveTask(
        run,
        shards.finished,
        ofBatch,
        preferred.map(cluster.location).toArray,
        session.serviceClock.atLeast,
        isDraining
      )
    }
  }

  /** Returns the start of a batch with recreated streams replaced, and the same position with its children admitted. */
  @scala.annotation.tailrec
  private def begun(start: SourceOffset): (SourceOffset, SourceOffset) = {
    val (mended, from) = query.positions.checked(start)
    lineage.settled(start, from) match {
      case Some(begin) => (mended, begin)
      case None => begun(start)
    }
  }

  /**
   * Returns the end of the batch.
   *
   * @param epochs
   *   the epochs of the attempts of tasks that have succeeded
   */
  def merge(epochs: Seq[Long]): SourceOffset = {
    reportOvertaken()
    val ended = executors.takeEnds(epochs)
    val ends = ended.map(_.end)
    val (begin, read) = planned.getOrElse(throw new IllegalStateException("no batch was planned"))
    lineage.requireSame(begin, ends.flatMap(_.outcomes))
    val merged = RealTimeMerge.merge(begin, read, ends.flatMap(_.outcomes), session.shards.lastOpenMillis)
    if (merged.silent.nonEmpty) session.events.emit(ShardsNotReported(merged.silent.size))
    for (end <- ends; outcome <- end.outcomes; if outcome.children.nonEmpty)
      lineage.add(outcome.shard.stream, outcome.children)
    val begun = ends.map(_.childrenBegun).sum
    if (begun > 0) session.events.emit(ChildrenBegun(begun))
    places = ended.flatMap { task =>
      task.end.outcomes.map(_.shard -> ExecutorPlace(task.executorId, task.host))
    }.toMap
    lastEnds = ends
    gauges.changed()
    merged.end
  }

  /** Stores the times on a thread of its own, because it is also called on RPC threads. */
  private def note(found: FirstLook.Found): Unit =
    looks.execute(() => if (look.isCurrent(found)) query.positions.noteRead(found.stored, found.timed))

  /** Reports what expired before it was fetched, also if the query ends after this batch. */
  private def reportOvertaken(): Unit =
    query.positions.reportOvertaken(executors.takeOvertaken(), isLast = synchronized(draining).nonEmpty)

  def metrics: Map[String, String] = RealTimeMetrics.of(lastEnds, executors.fetchedMillisBehind, figures)

  private val summaries = new ReadSummaries(query.environment.clock)
  private val gauges = new PublishedGauges(
    SourceQuery.GaugeSource,
    query.environment.clock,
    () => Gauges.of(query.label, figures)
  )

  /**
   * Returns the present figures. Any thread may call it. How far a shard is behind is that of its fetched part, because
   * tasks report theirs at the end of the batch.
   */
  private[sparkkinesis] def figures: SourceFigures = {
    val shards = executors.shards
    val open = executors.openShards
    SourceFigures(
      query.mode,
      shards,
      open,
      shards.groupMapReduce(_.shard.stream)(_.millisBehind)(math.max),
      query.retentionMillis(open.keys),
      executors.totals,
      executors.shardsByExecutor,
      executors.health,
      batch.map { last =>
        // The duration of a real-time batch is its trigger, and no sign of a stall.
        BatchFigures(last.number, 0, 0, isRunning = false, (query.environment.clock.nanoTime - last.nanos) / 1000000)
      },
      isRealTime = true
    )
  }

  def close(): Unit = {
    gauges.close()
    slots.leave(sourceId)
    RealTimeQueries.ofJvm.remove(runId, this)
    synchronized(draining).foreach(_.cancel(false))
    executors.close()
    endpoint.close()
    looks.close()
  }

  /** Called on an RPC thread. */
  private def finished(shard: StreamShard, children: Seq[ChildShard]): Unit = {
    val ends = synchronized(waiting.finish(shard, children))
    if (ends && endsEarly) {
      session.events.emit(BatchEndedEarly(shard.stream, shard.shard))
      executors.endTasks()
    }
  }

  private def taskCount(shards: LiveShards): Int = {
    val count = shards.readable.size
    def free = slots.available(sourceId, cluster.slots)
    awaitSlots(() => free >= RealTimePlanner.taskCount(count, math.max(1, free), perTask))
    val available = free
    val tasks = RealTimePlanner.taskCount(count, math.max(1, available), perTask)
    if (tasks > available)
      throw RealTimeErrors.tooFewSlots(
        tasks = tasks,
        shards = count,
        available = math.max(0, available),
        slots = cluster.slots
      )
    slots.use(sourceId, tasks)
    tasks
  }

  /**
   * Waits for executors, because they may still be starting. Listens only then: it would start and end threads between
   * any two batches.
   */
  private def awaitSlots(areEnough: () => Boolean): Unit = if (!areEnough()) {
    val change = new Changes
    val listening = cluster.listen(() => change.note(), _ => ())
    try {
      val end = query.environment.clock.nanoTime + SlotWait.toNanos
      var left = SlotWait.toNanos
      // A change after the question must end the wait, so the future is taken before it.
      var next = change.next
      while (left > 0 && !areEnough()) {
        query.environment.waiting.until(next, FiniteDuration(left, TimeUnit.NANOSECONDS))
        left = end - query.environment.clock.nanoTime
        next = change.next
      }
    } finally listening.close()
  }
}

private object RealTimeQuery {

  /** Maximum time to wait for executors with enough task slots. */
  val SlotWait: FiniteDuration = 30.seconds

  /** @param nanos the time when the batch was planned, in nanoseconds of this process's clock */
  final private case class Begun(number: Long, nanos: Long)

  /** Completes a future at the next change. */
  final class Changes {
    private var future = new CompletableFuture[Unit]

    def next: CompletableFuture[Unit] = synchronized {
      if (future.isDone) future = new CompletableFuture[Unit]
      future
    }

    def note(): Unit = {
      synchronized(future).complete(())
      ()
    }
  }
}
