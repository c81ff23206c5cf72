package org.sparkkinesis.simulation.read

import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.chunk.{Chunk, SummaryBounds}
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.metadata.StreamMetadataService
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}
import org.sparkkinesis.plan.{ShardRange, TaskRanges}
import org.sparkkinesis.simulation.spark._
import org.sparkkinesis.spark.coordinator.cluster.ExecutorCluster
import org.sparkkinesis.spark.read.live.{LiveRead, LiveTask}
import org.sparkkinesis.spark.read.query.SourceQuery
import org.sparkkinesis.spark.read.reader.RangesRead
import org.sparkkinesis.spark.read.realtime.{RealTimeQuery, RealTimeSlots}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles
import org.sparkkinesis.spark.settings.KinesisReadLimit

/**
 * Calls the connector's source as Spark does. Offsets are passed as their texts, as after a restart.
 *
 * @param onDirectRead
 *   called for each range that a task of a micro-batch has read from the service
 * @param metadata
 *   names the streams of a logical stream
 * @param memoryOf
 *   creates the check of what the driver holds
 */
final class KinesisSimulatedSource(
    options: Map[String, String],
    files: CheckpointFiles,
    cluster: ExecutorCluster,
    environment: SimulatedEnvironment,
    slots: () => Int,
    onDirectRead: () => Unit,
    metadata: Option[StreamMetadataService],
    memoryOf: SummaryBounds => DriverMemory
) extends MicroBatchSource {
  private val session = new StreamSession(Options.read(options), QueryContext.Unknown, environment)
  private val limit = KinesisReadLimit(session.options)
  private val query = new SourceQuery(session, files, cluster, limit.limits, limit.minimum, environment, metadata)
  private val memory = memoryOf(SummaryBounds.of(session.settings.decode))

  override def initialOffset(): String = OffsetCodec.encode(query.initialOffset)

  override def prepareForTriggerAvailableNow(): Unit = query.prepareForAvailableNow()

  private var answered = false

  /** Whether the query has seen the stream's shards, so that its checkpoint contains how far they are read. */
  def hasAnswered: Boolean = answered

  override def latestOffset(start: String, allAvailable: Boolean): Option[String] = {
    memory.check(decode(start), query.summaries)
    val end = query.latestOffset(decode(start), allAvailable).map(OffsetCodec.encode)
    answered = true
    end
  }

  override def partitions(start: String, end: String): Seq[BatchPartition] =
    query.tasks(decode(start), decode(end), slots()).map(new Partition(_))

  private var live = Option.empty[RealTimeQuery]

  /** Returns the source for real-time mode, as Spark prepares it before everything else. */
  def inRealTime(): RealTimeSource = {
    val started = new RealTimeQuery(query, cluster, new RealTimeSlots)
    live = Some(started)
    new RealTimeSource {
      override def initialOffset(): String = KinesisSimulatedSource.this.initialOffset()
      override def partitions(start: String): Seq[LivePartition] = {
        memory.check(decode(start), query.summaries)
        started.plan(decode(start)).map(new Live(_))
      }
      override def merge(ends: Seq[Long]): String = OffsetCodec.encode(started.merge(ends))
    }
  }

  override def stop(): Unit =
    try live.foreach(_.close())
    finally query.stop()

  private def decode(text: String): SourceOffset = OffsetCodec.decode(text)

  final private class Partition(task: TaskRanges) extends BatchPartition {
    private val settings = query.readSettings
    override def preferred: Seq[String] = task.owner.toSeq

    override def read(executor: SimulatedExecutor): Vector[ReadRow] = {
      val reading =
        RangesRead(task.ranges, Some(query.sourceId), settings, executor.hosts, executor.environment)
      val rows = Vector.newBuilder[ReadRow]
      var counted = Option.empty[ShardRange]
      try while (reading.next()) {
          rows ++= KinesisSimulatedSource.rows(reading.range.shard.shard.value, reading.chunk)
          if (!reading.isFromMemory && !counted.contains(reading.range)) {
            counted = Some(reading.range)
            onDirectRead()
          }
        }
      finally reading.close()
      rows.result()
    }
  }

  final private class Live(task: LiveTask) extends LivePartition {
    private val settings = query.consumerSettings
    override def preferred: Seq[String] = task.preferredLocations().toSeq
    override def shards: Int = task.shards.size

    override def open(executor: SimulatedExecutor, attempt: Long): LiveReading = {
      executor.hosts.ensureStarted(query.sourceId, settings)
      val host = executor.hosts.find(query.sourceId).getOrElse(throw RealTimeErrors.driverUnreachable(executor.name))
      val reading = new LiveRead(task, host, attempt, settings, executor.environment)
      new LiveReading {
        override def isEnded: Boolean = reading.isEnded
        override def next(): Option[ReadRow] = Option.when(reading.next(0))(KinesisSimulatedSource.row(
          reading.shard.shard.shard.value,
          reading.chunk,
          reading.rowInChunk
        ))
        override def deliverEnd(): Long = reading.deliverEnd()
        override def close(): Unit = reading.close()
      }
    }
  }
}

private object KinesisSimulatedSource {
  def rows(shard: String, chunk: Chunk): Iterator[ReadRow] = (0 until chunk.rows).iterator.map(row(shard, chunk, _))

  def row(shard: String, chunk: Chunk, row: Int): ReadRow = ReadRow(
    shard,
    chunk.sequenceNumber(row).value,
    chunk.subSequenceNumber(row),
    chunk.partitionKey(row),
    id(chunk.data(row))
  )

  /** The id at the end of the data, after leading zeros. Records may be large, so the zeros are not read. */
  private def id(data: Array[Byte]): Long = {
    val digits = math.min(data.length, LongestId)
    new String(data, data.length - digits, digits, UTF_8).toLong
  }
  private val LongestId = 18
}
