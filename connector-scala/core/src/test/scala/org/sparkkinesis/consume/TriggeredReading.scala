package org.sparkkinesis.consume

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.DefaultPolling
import org.sparkkinesis.consume.spill.{ChunkSpill, SpillFiles}
import org.sparkkinesis.event.{ConsumerMetrics, EventSink}
import org.sparkkinesis.model._
import org.sparkkinesis.service.ServiceException

/**
 * The consumers of one executor that polls shards which always have more records, and a query on virtual time. Each
 * batch takes everything that is reported, and what it took is released when the next batch is planned, as by Spark.
 *
 * @param diskBytes
 *   maximum size of the local files; 0 for none
 */
final class TriggeredReading(
    shards: Int,
    bufferBytes: Long,
    diskBytes: Long,
    files: SpillFiles,
    recordBytes: Int = 50000,
    events: EventSink = EventSink.Discard
) extends ProgressListener {
  val scheduler = new VirtualScheduler
  val stream = new EndlessStream(scheduler, recordBytes)
  private val metrics = new ConsumerMetrics
  private val decode = DecodeSettings.of(Options.defaults)
  private val spill = Option.when(diskBytes > 0)(
    new ChunkSpill(files, diskBytes, decode.maxChunkRows, decode.maxChunkBytes, scheduler, events)
  )
  val buffer = new PrefetchBuffer(bufferBytes, spill)
  private val publishers = DefaultPolling.of(stream, scheduler, metrics)
  private val consumers = new ShardConsumers(publishers, buffer, decode, this, metrics)
  private val names = (0 until shards).map(index => StreamShard("orders", ShardId.ofIndex(index.toLong)))
  private val reported = mutable.HashMap.empty[StreamShard, mutable.ArrayBuffer[ChunkSummary]]
  private val planned = mutable.HashMap.empty[StreamShard, SequenceNumber]

  /** The largest number of bytes in memory. */
  var mostBytes = 0L

  override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
    reported.getOrElseUpdate(shard, mutable.ArrayBuffer.empty) ++= chunks
    mostBytes = math.max(mostBytes, buffer.usedBytes)
  }
  override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit = ()
  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = throw error

  /**
   * Runs batches and returns the bytes of each.
   *
   * @param interval
   *   time from the planning of one batch to that of the next
   * @param reads
   *   whether the tasks read the records of their batches
   */
  def run(batches: Int, interval: FiniteDuration, reads: Boolean = true): Seq[Long] = {
    names.foreach(consumers.start(_, StartingPosition.TrimHorizon, 1))
    (1 to batches).map { _ =>
      scheduler.advance(interval)
      planned.foreach { case (shard, number) => consumers.release(shard, number) }
      val batch = reported.toVector
      val from = planned.toMap
      batch.foreach { case (shard, chunks) => planned(shard) = chunks.last.last }
      reported.clear()
      if (reads) batch.foreach { case (shard, chunks) => read(shard, from.get(shard), chunks) }
      batch.flatMap(_._2).map(_.bytes).sum
    }
  }

  private def read(shard: StreamShard, from: Option[SequenceNumber], chunks: Iterable[ChunkSummary]): Unit = {
    val after =
      from.fold[StartingPosition](StartingPosition.TrimHorizon)(StartingPosition.AfterSequenceNumber(_))
    val held = consumers.read(shard, after, chunks.last.last).getOrElse(
      throw new AssertionError(s"the records of $shard are not held")
    )
    val first = from.fold(0L)(_.value.toLong) + 1
    val numbers = held.iterator.flatMap(_.load()).flatMap { chunk =>
      (0 until chunk.rows).iterator.map(chunk.sequenceNumber(_).value.toLong)
    }
    val expected = (first to chunks.last.last.value.toLong).iterator
    if (!numbers.sameElements(expected)) throw new AssertionError(s"a task of $shard got other records")
  }
}
