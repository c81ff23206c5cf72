package org.sparkkinesis.spark.executor

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{Cancellable, Scheduler}
import org.sparkkinesis.consume.{ProgressListener, ShardSnapshot}
import org.sparkkinesis.event.ConsumerHealth
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.protocol.{ProtocolCodec, Report, ShardReport}

/**
 * Reports changes in the consumers to the driver. New data, the end of a shard, and failures are sent at once, but a
 * report follows the previous one after a pause that grows with the number of shards: none up to 50 shards, and 20 ms
 * from 1,000 shards on. Without it, thousands of shards would cause a report for each response. Changes during the
 * pause go into the next report. An idle shard is reported only from time to time. Thread-safe.
 *
 * @param send
 *   sends a message to the driver; must not block
 * @param shards
 *   returns the number of shards that are read
 * @param startEpoch
 *   returns the epoch under which the consumer of a shard started that has this epoch now
 */
final class ProgressReporter(
    executorId: String,
    instance: Long,
    scheduler: Scheduler,
    send: Array[Byte] => Unit,
    shards: () => Int,
    bufferIsFull: () => Boolean,
    unreachable: () => Set[String],
    metrics: () => Map[String, Long],
    health: () => ConsumerHealth,
    startEpoch: (StreamShard, Long) => Option[Long]
) extends ProgressListener
    with AutoCloseable {
  import ProgressReporter._

  private val changed = mutable.LinkedHashMap.empty[StreamShard, Change]

  /** Shards whose last response reached the tip, with the epoch of the assignment. */
  private val atTip = new ConcurrentHashMap[StreamShard, Long]
  private val isDue = new AtomicBoolean
  private val sending = new Object
  private var number = 0L
  private var full = false

  /** The time before which the next report is not sent, in nanoseconds of the scheduler's clock. */
  @volatile private var pausesUntil = scheduler.nanoTime
  @volatile private var quiet: Cancellable = scheduleQuiet()
  @volatile private var closed = false

  override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
    atTip.remove(shard)
    change(shard, epoch, atOnce = true)(_.add(chunks))
  }

  override def onReadUpTo(
      shard: StreamShard,
      epoch: Long,
      readUpToMillis: Long,
      millisBehindLatest: Long,
      hadRecords: Boolean
  ): Unit = {
    // Report at once when a shard reaches its tip, but not while it stays there.
    val reachedTip = millisBehindLatest == 0 && !java.util.Objects.equals(atTip.put(shard, epoch), epoch)
    change(shard, epoch, reachedTip) { change =>
      if (!hadRecords && millisBehindLatest == 0) change.openUpToMillis = readUpToMillis
      change.reads += 1
      change.readUpToMillis = math.max(change.readUpToMillis, readUpToMillis)
      change.millisBehindLatest = millisBehindLatest
    }
  }

  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit =
    change(shard, epoch, atOnce = true)(_.end = Some(children))

  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit =
    change(shard, epoch, atOnce = true)(_.failure = Some(error))

  /**
   * Replaces all pending changes by full snapshots. They are taken under the lock, so a chunk that arrives meanwhile
   * is in a snapshot, in a later report, or in both.
   */
  def tellAll(snapshots: => Seq[ShardSnapshot]): Unit = {
    changed.synchronized {
      val open = changed.iterator.map { case (shard, change) => (shard, change.epoch) -> change.openUpToMillis }.toMap
      changed.clear()
      full = true
      snapshots.foreach { snapshot =>
        val change = new Change(snapshot.epoch)
        change.add(snapshot.chunks)
        change.readUpToMillis = snapshot.readUpToMillis
        change.millisBehindLatest = snapshot.millisBehindLatest
        change.openUpToMillis = open.getOrElse((snapshot.shard, snapshot.epoch), 0)
        change.end = snapshot.end
        change.failure = snapshot.failure
        changed(snapshot.shard) = change
      }
    }
    flushSoon()
  }

  override def close(): Unit = {
    closed = true
    quiet.cancel()
  }

  private def change(shard: StreamShard, epoch: Long, atOnce: Boolean)(update: Change => Unit): Unit = {
    changed.synchronized {
      val present = changed.get(shard)
      if (present.forall(_.epoch <= epoch)) update(present.filter(_.epoch == epoch).getOrElse {
        val fresh = new Change(epoch)
        changed(shard) = fresh
        fresh
      })
    }
    if (atOnce) flushSoon()
  }

  private def flushSoon(): Unit = if (!closed && isDue.compareAndSet(false, true)) {
    val pause = pausesUntil - scheduler.nanoTime
    if (pause > 0) scheduler.schedule(pause.nanos)(flush())
    else scheduler.execute(() => flush())
  }

  private def flush(): Unit = sending.synchronized {
    pausesUntil = scheduler.nanoTime + pauseNanos(shards())
    isDue.set(false)
    val report = changed.synchronized {
      val shards = changed.iterator.map { case (shard, change) =>
        change.report(shard, startEpoch(shard, change.epoch))
      }.toVector
      changed.clear()
      val isFull = full
      full = false
      number += 1
      Report(executorId, instance, number, isFull, bufferIsFull(), unreachable(), shards, metrics(), health())
    }
    if (!closed) send(ProtocolCodec.encode(report))
  }

  /**
   * Schedules periodic reports. Without changes, an empty report lets the driver detect a lost report by its number.
   */
  private def scheduleQuiet(periodsInSilence: Int = 0): Cancellable = scheduler.schedule(QuietPeriod) {
    val speaks = periodsInSilence + 1 >= MostPeriodsInSilence || changed.synchronized(changed.nonEmpty)
    if (speaks) flushSoon()
    if (!closed) quiet = scheduleQuiet(if (speaks) 0 else periodsInSilence + 1)
  }
}

private object ProgressReporter {

  /** Pause between two reports for each shard. With a thousand shards, the pause reaches its maximum. */
  private val PausePerShard = 20.micros
  private val LongestPause = 20.millis

  /** Up to this number of shards, there is no pause. */
  private val FewShards = 50

  private def pauseNanos(shards: Int): Long =
    if (shards <= FewShards) 0 else math.min(LongestPause.toNanos, shards * PausePerShard.toNanos)

  /** Maximum delay until the driver learns that a shard is still at its tip. */
  private val QuietPeriod = 500.millis

  /** An empty report is sent after this number of periods without a change. */
  private val MostPeriodsInSilence = 10

  final private class Change(val epoch: Long) {
    val chunks = mutable.ArrayBuffer.empty[ChunkSummary]
    var reads = 0
    var readUpToMillis = 0L
    var millisBehindLatest = 0L
    var openUpToMillis = 0L
    var end: Option[Seq[ChildShard]] = None
    var failure: Option[ServiceException] = None

    /** Adds newer chunks only: a consumer may report a chunk that the snapshot contains already. */
    def add(more: Seq[ChunkSummary]): Unit = chunks ++=
      more.filter(chunk => chunks.lastOption.forall(_.last < chunk.last))

    def report(shard: StreamShard, startEpoch: Option[Long]): ShardReport =
      ShardReport(
        shard,
        epoch,
        chunks.toVector,
        reads,
        readUpToMillis,
        millisBehindLatest,
        end,
        failure,
        openUpToMillis,
        startEpoch.getOrElse(0)
      )
  }
}
