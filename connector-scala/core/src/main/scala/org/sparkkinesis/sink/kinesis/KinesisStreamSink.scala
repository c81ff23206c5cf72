package org.sparkkinesis.sink.kinesis

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.{Condition, Lock}
import java.util.concurrent.{CancellationException, CompletableFuture}

import org.sparkkinesis.concurrent.{Futures, Scheduler}
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.event.{EventSink, ShardLimitsUnavailable}
import org.sparkkinesis.model.{KinesisQuotas, StreamRef, StreamShard}
import org.sparkkinesis.retry.{Jitter, Retrier}
import org.sparkkinesis.service.{KinesisService, Operation}
import org.sparkkinesis.sink.kinesis.lane.{BackgroundListing, ShardLanes}
import org.sparkkinesis.sink.kinesis.pack.AggregatePacker
import org.sparkkinesis.sink.kinesis.put.{PutCounts, SinkRecord}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.sink.{DeliveryProgress, SinkBounds, SinkException}

/**
 * Writes records to one stream for one task. As with [[AsyncSinkWriter]], one thread uses it, and records count as
 * stored only after `flush`.
 */
final class KinesisStreamSink private (
    writer: AsyncSinkWriter[SinkRecord],
    counts: PutCounts,
    stream: StreamRef,
    lanes: ShardLanes,
    delivery: DeliveryProgress,
    release: () => Unit
) extends AutoCloseable {
  private var isOpen = true

  def write(record: SinkRecord): Unit = writer.write(record)
  def flush(): Unit = writer.flush()

  /** Why the sink has failed; from any thread. */
  def failed: Option[SinkException] = writer.failed
  def metrics: KinesisSinkMetrics = {
    val paced = lanes.paced
    val rates = paced.map { case (shard, scale) =>
      PacedRate(StreamShard(stream.toString, shard), scale * KinesisQuotas.Shard.WriteRecordsPerSecond)
    }
    KinesisSinkMetrics(
      writer.metrics,
      ShardCounts(counts.records, counts.payloadUnits, paced.size, ShardCounts.slowest(rates))
    )
  }

  /** Closes the sink and returns the records without acknowledgement, see [[AsyncSinkWriter.takeBack]]. */
  def takeBack(): IndexedSeq[SinkRecord] = if (isOpen) {
    isOpen = false
    try writer.takeBack()
    finally release()
  } else IndexedSeq.empty

  /** The time from which the stream has accepted and throttled nothing, see [[AsyncSinkWriter.silentSince]]. */
  def silentSince: Option[Long] = writer.silentSince

  /** The time in nanoseconds at which the stream last accepted a record of this process. From any thread. */
  def acceptedAt: Option[Long] = delivery.acceptedAt

  /** Fails the sink, so that its owner takes its records back, see [[AsyncSinkWriter.giveUp]]. From any thread. */
  def giveUp(reason: SinkException): Unit = writer.giveUp(reason)

  /** Starts no more requests and cancels those in flight, see [[AsyncSinkWriter.abandon]]. */
  def abandon(): Unit = writer.abandon()

  override def close(): Unit = if (isOpen) {
    isOpen = false
    try writer.close()
    finally release()
  }
}

object KinesisStreamSink {

  /**
   * Opens a sink without blocking. If the shards are needed and were not listed in this process, they are listed in the
   * background.
   *
   * @param bounds
   *   limits that the sinks of one task share
   */
  def open(
      service: KinesisService,
      stream: CheckedStream,
      settings: KinesisSinkSettings,
      bounds: SinkBounds,
      process: SinkProcess,
      events: EventSink = EventSink.Discard
  ): KinesisStreamSink = {
    val scheduler = process.scheduler
    val limits = process.limits.acquire(stream.identity, settings, process.senders, events, scheduler)
    try {
      val isOpen = new AtomicBoolean(true)
      if (settings.needsShards && limits.lanes.shards.map.isEmpty)
        listShards(service, stream.stream, limits.lanes, settings, isOpen, process, events)
      val keepsOrder = settings.ordering != WriteOrdering.Unordered
      val packer = Option.when(settings.aggregated)(AggregatePacker(keepsOrder, settings.requests.maxBatchSize))
      val destination = new KinesisDestination(
        service,
        stream.stream,
        limits.lanes,
        settings.shardLimits,
        settings.ordering,
        packer,
        limits.sizes,
        settings.rules,
        scheduler,
        events
      )
      val writer = new AsyncSinkWriter[SinkRecord](
        destination,
        limits.strategy.open(),
        settings.requestsFor(limits.lanes.openShards),
        bounds,
        scheduler,
        process.random,
        process.newCondition,
        limits.delivery,
        () => limits.report()
      )
      new KinesisStreamSink(
        writer,
        destination.counts,
        stream.stream,
        limits.lanes,
        limits.delivery,
        () => {
          isOpen.set(false)
          process.limits.release(limits, events, scheduler)
        }
      )
    } catch {
      case failure: Throwable =>
        process.limits.release(limits, events, scheduler)
        throw failure
    }
  }

  /** Lists the shards when the sink opens, and retries while it is open. */
  private def listShards(
      service: KinesisService,
      stream: StreamRef,
      lanes: ShardLanes,
      settings: KinesisSinkSettings,
      isOpen: AtomicBoolean,
      process: SinkProcess,
      events: EventSink
  ): Unit = {
    val retrier = new Retrier(process.scheduler, settings.rules, process.random)
    new BackgroundListing(process.scheduler).begin(() =>
      retrier.retry(settings.retries(Operation.ListShards)) { () =>
        if (isOpen.get) lanes.shards.confirm(service, stream, events)
        else CompletableFuture.failedFuture(new CancellationException("the sink is closed"))
      }
    ).whenComplete {
      (_, error) =>
        if (error != null && isOpen.get)
          events.emit(ShardLimitsUnavailable(stream.toString, String.valueOf(Futures.unwrap(error).getMessage)))
    }
    ()
  }
}

/**
 * Resources of one process that its sinks share. A simulation injects virtual ones.
 *
 * @param newCondition
 *   creates the condition on which a writing thread waits
 * @param random
 *   returns the jitter of backoff in `[0, 1)`
 * @param senders
 *   number of sinks that write to the stream at the same time, in all processes
 */
final class SinkProcess(
    val scheduler: Scheduler,
    val limits: SharedStreamLimits = SharedStreamLimits.OfJvm,
    val newCondition: Lock => Condition = _.newCondition(),
    val random: () => Double = Jitter.random,
    val senders: Int = 1
)
