package org.sparkkinesis.spark.executor

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration._

import org.apache.spark.{SparkException, TaskKilledException}

import org.sparkkinesis.concurrent.SerialExecutor
import org.sparkkinesis.consume.spill.{ChunkSpill, HeldChunk}
import org.sparkkinesis.consume.{PrefetchBuffer, PrefetchMemory, ShardConsumers, ShardHead}
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.event.{ConsumerHealth, ConsumerMetrics, ConsumersCrashed, CoordinatorLost, FetchBufferReduced}
import org.sparkkinesis.model.{ChildShard, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.plan.realtime.{LiveShard, TaskEnd}
import org.sparkkinesis.spark.connection.{Environment, ServiceTimeScheduler}
import org.sparkkinesis.spark.protocol.{
  Assign, Broken, EndTasks, ExecutorWire, OtherVersion, ParentFinished, ProtocolCodec, Register, Release,
  SendFullReport,
  ServiceTime, StopAll, TaskEnded, ToExecutor, Unassign
}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * Runs the consumers of one source in one JVM. It follows the messages of the driver's coordinator and reports its
 * progress.
 *
 * A task of the start job creates it. The coordinator closes it, or it closes itself when the coordinator stops
 * answering.
 */
final class ConsumerHost private[executor] (
    sourceId: String,
    settings: ReadSettings,
    wire: ExecutorWire,
    environment: Environment,
    memory: PrefetchMemory,
    onClose: ConsumerHost => Unit
) extends LiveConsumers
    with AutoCloseable {
  import ConsumerHost._

  private val driver = wire.driver(ConsumerHosts.coordinatorName(sourceId))
  private val scheduler = new ServiceTimeScheduler(
    environment.scheduler("kinesis-consumer", math.max(2, Runtime.getRuntime.availableProcessors / 2)),
    breakDown
  )
  private val orders = new SerialExecutor(scheduler, breakDown)
  private val metrics = new ConsumerMetrics
  private val events = environment.events(settings.query)

  /** The settings with the streams that have joined. */
  @volatile private var current = settings
  private val publishers = PublisherFactories.open(() => current, scheduler, metrics, environment, events)
  private val spill = Option.when(settings.diskBytes > 0)(
    new ChunkSpill(
      environment.localFiles,
      settings.diskBytes,
      settings.decode.maxChunkRows,
      settings.decode.maxChunkBytes,
      scheduler,
      events
    )
  )
  private val buffer = settings.bufferBytes.fold(memory.open(spill)) { wanted =>
    val granted = PrefetchMemory.granted(wanted, environment.heapBytes)
    if (granted < wanted) events.emit(FetchBufferReduced(wanted, granted))
    new PrefetchBuffer(granted, spill)
  }
  private val instance = java.util.UUID.randomUUID().getMostSignificantBits
  private val reporter =
    new ProgressReporter(
      wire.executorId,
      instance,
      scheduler,
      driver.send,
      () => consumers.size,
      () => buffer.isFull,
      () => publishers.unreachable,
      () =>
        metrics.snapshot + ("bufferedBytes" -> buffer.usedBytes) ++ spill.map("bufferedDiskBytes" -> _.usedBytes),
      () =>
        ConsumerHealth(buffer.capacity, metrics.pollingSlowdown, metrics.mostThrottled, publishers.outages),
      (shard, epoch) => consumers.startEpoch(shard, epoch)
    )
  private val live = new LiveFeeds(reporter)
  private val consumers: ShardConsumers = new ShardConsumers(publishers, buffer, settings.decode, live, metrics, events)

  /** Why tasks of real-time batches end; empty until the consumers close. */
  private val closed = new AtomicReference(Option.empty[RuntimeException])
  private val endpoint =
    wire.open(s"kinesis-consumers-$sourceId-${java.lang.Long.toHexString(instance)}")(message =>
      orders.run(obey(OtherVersion.requireOwn(message, s"executor ${wire.executorId}")))
    )
  private var missedPings = 0

  /** Returns the buffered chunks of a range up to `end`, or `None` when the buffer does not hold all of it. */
  def read(range: ShardRange, end: SequenceNumber): Option[IndexedSeq[HeldChunk]] =
    consumers.read(range.shard, range.after, end, range.creationMillis)

  override def heard(serviceMillis: Long): Unit = scheduler.heard(serviceMillis)

  /**
   * Gives shards to a task of a real-time batch. Consumers that have read them until there continue; others start.
   */
  override def claim(feed: LiveFeed, shards: Seq[LiveShard], areChildren: Boolean): Unit = {
    live.open(feed, shards, areChildren)
    for (one <- shards; from <- one.position.resumeAt)
      consumers.start(one.shard, from, feed.epoch, one.hashKeyRange, one.creationMillis)
    // The host may have closed meanwhile, or hold records already.
    closed.get.foreach(feed.fail)
    shards.foreach(one => feed.tell(one.shard))
    reporter.tellAll(consumers.snapshot())
  }

  override def head(shard: StreamShard, from: StartingPosition): Option[ShardHead] = consumers.head(shard, from)

  override def release(shard: StreamShard, upTo: SequenceNumber): Unit = consumers.release(shard, upTo)

  override def finished(shard: StreamShard, waiting: Seq[ChildShard]): Unit =
    driver.send(ProtocolCodec.encode(ParentFinished(shard, waiting)))

  override def deliver(epoch: Long, end: TaskEnd): Unit =
    try driver.deliver(ProtocolCodec.encode(TaskEnded(wire.executorId, wire.executorHost, epoch, end)))
    catch {
      // A timeout of Spark's RPC is not a SparkException.
      case lost @ (_: SparkException | _: TimeoutException) =>
        throw closed.get.collect { case killed: TaskKilledException => killed }
          .getOrElse(RealTimeErrors.driverUnreachable(wire.executorId).causedBy(lost))
    }

  /**
   * Takes the shards of a task that has ended. Their consumers continue for a while, because the next batch is expected
   * to read the same shards.
   */
  override def leave(feed: LiveFeed): Unit = {
    feed.close()
    if (closed.get.isEmpty) {
      scheduler.schedule(IdlePeriod)(live.forget(feed).foreach(consumers.stop))
      ()
    }
  }

  override def close(): Unit = close(new IllegalStateException("the consumers have stopped"))

  /** Closes the consumers; tasks of real-time batches end for this reason. */
  private def close(reason: RuntimeException): Unit = if (closed.getAndUpdate(_.orElse(Some(reason))).isEmpty) {
    onClose(this)
    live.failAll(reason)
    reporter.close()
    consumers.stopAll()
    endpoint.close()
    publishers.close()
    scheduler.close()
    memory.close(buffer)
  }

  /**
   * Stops after an error that is not a service response, such as a missing class or an exhausted heap, and reports
   * it. Otherwise the coordinator would wait forever for shards that nobody reads.
   */
  private def breakDown(failure: Throwable): Unit = if (closed.get.isEmpty) {
    events.emit(ConsumersCrashed(wire.executorId, failure))
    try close()
    finally driver.send(ProtocolCodec.encode(Broken(wire.executorId, instance, failure.toString)))
  }

  /**
   * Registers with the coordinator, even if it is registered already: the coordinator asks when it has lost the
   * registration.
   */
  private[executor] def introduce(): Unit = {
    val introduction = Register(wire.executorId, wire.executorHost, instance)
    driver.register(ProtocolCodec.encode(introduction), endpoint)
  }

  private def obey(message: ToExecutor): Unit = message match {
    case Assign(shards, serviceMillis, connections) =>
      scheduler.heard(serviceMillis)
      if (connections.nonEmpty) current = current.withStreams(connections.toMap)
      val readBefore = consumers.shards
      shards.foreach(one => consumers.start(one.shard, one.position, one.epoch, one.range, one.creationMillis))
      // Report the chunks of consumers that continue under a new assignment; nothing else would report them.
      if (shards.exists(assigned => readBefore(assigned.shard))) reporter.tellAll(consumers.snapshot())
    case Release(upTo) => upTo.foreach { case (shard, number) => consumers.release(shard, number) }
    case Unassign(shards) => shards.filterNot(live.isRead).foreach(consumers.stop)
    case SendFullReport => reporter.tellAll(consumers.snapshot())
    case EndTasks => live.endAll()
    case ServiceTime(millis) => scheduler.heard(millis)
    // Spark kills the tasks of a query that stops. This message may arrive before.
    case StopAll => close(new TaskKilledException("the query has stopped"))
  }

  /** Pings the driver, so that consumers stop when the coordinator ends without a message. */
  private[executor] def watchDriver(): Unit = {
    scheduler.schedule(PingPeriod) {
      if (closed.get.isEmpty) driver.ping(scheduler) { isThere =>
        missedPings = if (isThere) 0 else missedPings + 1
        if (missedPings < PingsToMiss) watchDriver()
        else {
          events.emit(CoordinatorLost(wire.executorId, missedPings))
          close()
        }
      }
    }
    ()
  }
}

private object ConsumerHost {
  val PingPeriod: FiniteDuration = 10.seconds
  val PingsToMiss = 3

  /** Time for which the shards of a real-time task are read on without another task. */
  val IdlePeriod: FiniteDuration = 30.seconds
}
