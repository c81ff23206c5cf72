package org.sparkkinesis.spark.executor

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{Cancellable, Scheduler}
import org.sparkkinesis.consume.{ProgressListener, ShardSnapshot}
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.protocol.{ProtocolCodec, Report, ShardReport}

/**
 * Tells the driver what changed in the consumers: at once when there is new data, an end or a failure; what it says while
 * one report is being made goes into the next. That nothing new came is told from time to time only.
 *
 * @param send
 *   takes a message to the driver; must not block
 */
final class ProgressReporter(
    executorId: String,
    instance: Long,
    scheduler: Scheduler,
    send: Array[Byte] => Unit,
    bufferIsFull: () => Boolean,
    metrics: () => Map[String, Long]
) extends ProgressListener
    with AutoCloseable {
  import ProgressReporter._

  private val changed = mutable.LinkedHashMap.empty[StreamShard, Change]

  /** Shards whose last answer left nothing to fetch, by epoch. */
  private val atTip = new ConcurrentHashMap[StreamShard, Long]
  private val isDue = new AtomicBoolean
  private val sending = new Object
  private var number = 0L
  private var full = false
  @volatile private var quiet: Cancellable = scheduleQuiet()
  @volatile private var closed = false

  override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
    atTip.remove(shard)
    change(shard, epoch, atOnce = true)(_.add(chunks))
  }

  override def onReadUpTo(shard: StreamShard, epoch: Long, readUpToMillis: Long, millisBehindLatest: Long): Unit = {
    // That the tip was reached is news; that it still is, is not.
    val reachedTip = millisBehindLatest == 0 && !java.util.Objects.equals(atTip.put(shard, epoch), epoch)
    change(shard, epoch, reachedTip) { change =>
      change.readUpToMillis = math.max(change.readUpToMillis, readUpToMillis)
      change.millisBehindLatest = millisBehindLatest
    }
  }

  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit =
    change(shard, epoch, atOnce = true)(_.end = Some(children))

  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit =
    change(shard, epoch, atOnce = true)(_.failure = Some(error))

  /**
   * Puts everything there is in the place of what was told before. The snapshots are taken while nothing else can be
   * told: a chunk that comes meanwhile is in them, or is told after them, or both.
   */
  def tellAll(snapshots: => Seq[ShardSnapshot]): Unit = {
    changed.synchronized {
      changed.clear()
      full = true
      snapshots.foreach { snapshot =>
        val change = new Change(snapshot.epoch)
        change.add(snapshot.chunks)
        change.readUpToMillis = snapshot.readUpToMillis
        change.millisBehindLatest = snapshot.millisBehindLatest
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

  private def flushSoon(): Unit = if (!closed && isDue.compareAndSet(false, true)) scheduler.execute(() => flush())

  private def flush(): Unit = sending.synchronized {
    isDue.set(false)
    val report = changed.synchronized {
      val shards = changed.iterator.map { case (shard, change) => change.report(shard) }.toVector
      changed.clear()
      val isFull = full
      full = false
      number += 1
      Report(executorId, instance, number, isFull, bufferIsFull(), shards, metrics())
    }
    if (!closed) send(ProtocolCodec.encode(report))
  }

  /** Without anything new to say an empty report still shows the driver, by its number, when one before it was lost. */
  private def scheduleQuiet(periodsInSilence: Int = 0): Cancellable = scheduler.schedule(QuietPeriod) {
    val speaks = periodsInSilence + 1 >= MostPeriodsInSilence || changed.synchronized(changed.nonEmpty)
    if (speaks) flushSoon()
    if (!closed) quiet = scheduleQuiet(if (speaks) 0 else periodsInSilence + 1)
  }
}

private object ProgressReporter {

  /** How long it may take until the driver hears that a shard is still at its tip. */
  private val QuietPeriod = 500.millis
  private val MostPeriodsInSilence = 10

  final private class Change(val epoch: Long) {
    val chunks = mutable.ArrayBuffer.empty[ChunkSummary]
    var readUpToMillis = 0L
    var millisBehindLatest = 0L
    var end: Option[Seq[ChildShard]] = None
    var failure: Option[ServiceException] = None

    /** What a snapshot held is told again by the consumer that was just about to. */
    def add(more: Seq[ChunkSummary]): Unit = chunks ++=
      more.filter(chunk => chunks.lastOption.forall(_.last < chunk.last))

    def report(shard: StreamShard): ShardReport =
      ShardReport(shard, epoch, chunks.toVector, readUpToMillis, millisBehindLatest, end, failure)
  }
}
