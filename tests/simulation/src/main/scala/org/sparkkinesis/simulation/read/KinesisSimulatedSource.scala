package org.sparkkinesis.simulation.read

import java.nio.charset.StandardCharsets.UTF_8

import org.sparkkinesis.chunk.Chunk
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.plan.TaskRanges
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}
import org.sparkkinesis.simulation.spark._
import org.sparkkinesis.spark.coordinator.cluster.ExecutorCluster
import org.sparkkinesis.spark.read.SourceQuery
import org.sparkkinesis.spark.read.reader.RangesRead
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles
import org.sparkkinesis.spark.settings.KinesisReadLimit

/** Calls the connector's source as Spark does. Offsets are passed as their texts, as after a restart. */
final class KinesisSimulatedSource(
    options: Map[String, String],
    files: CheckpointFiles,
    cluster: ExecutorCluster,
    environment: SimulatedEnvironment,
    slots: () => Int
) extends MicroBatchSource {
  private val session = new StreamSession(Options.read(options), QueryContext.Unknown, environment)
  private val limit = KinesisReadLimit(session.options)
  private val query = new SourceQuery(session, files, cluster, limit.limits, limit.minimum, environment)

  override def initialOffset(): String = OffsetCodec.encode(query.initialOffset)

  override def prepareForTriggerAvailableNow(): Unit = query.prepareForAvailableNow()

  private var answered = false

  /** Whether the query has seen the stream's shards, so that its checkpoint contains how far they are read. */
  def hasAnswered: Boolean = answered

  override def latestOffset(start: String, allAvailable: Boolean): Option[String] = {
    val end = query.latestOffset(decode(start), allAvailable).map(OffsetCodec.encode)
    answered = true
    end
  }

  override def partitions(start: String, end: String): Seq[BatchPartition] =
    query.tasks(decode(start), decode(end), slots()).map(new Partition(_))

  override def stop(): Unit = query.stop()

  private def decode(text: String): SourceOffset = OffsetCodec.decode(text)

  final private class Partition(task: TaskRanges) extends BatchPartition {
    private val settings = query.readSettings
    override def preferred: Seq[String] = task.owner.toSeq

    override def read(executor: SimulatedExecutor): Vector[ReadRow] = {
      val reading =
        RangesRead(task.ranges, Some(query.sourceId), settings, executor.hosts, executor.environment)
      val rows = Vector.newBuilder[ReadRow]
      try while (reading.next()) rows ++= KinesisSimulatedSource.rows(reading.range.shard.shard.value, reading.chunk)
      finally reading.close()
      rows.result()
    }
  }
}

private object KinesisSimulatedSource {
  def rows(shard: String, chunk: Chunk): Iterator[ReadRow] = (0 until chunk.rows).iterator.map { row =>
    ReadRow(
      shard,
      chunk.sequenceNumber(row).value,
      chunk.subSequenceNumber(row),
      chunk.partitionKey(row),
      id(chunk.data(row))
    )
  }

  /** The id at the end of the data, after leading zeros. Records may be large, so the zeros are not read. */
  private def id(data: Array[Byte]): Long = {
    val digits = math.min(data.length, LongestId)
    new String(data, data.length - digits, digits, UTF_8).toLong
  }
  private val LongestId = 18
}
