package org.sparkkinesis.bench.scale

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.nio.file.Files

import scala.util.Using

import org.apache.hadoop.conf.Configuration

import org.sparkkinesis.bench.source.QueryLoop
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.plan.TaskRanges
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}
import org.sparkkinesis.spark.read.query.SourceQuery
import org.sparkkinesis.spark.read.reader.KinesisInputPartition
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.HadoopCheckpointFiles
import org.sparkkinesis.spark.settings.KinesisReadLimit

/**
 * The source of a query on a driver without Spark: each [[trigger]] makes the calls of a micro-batch, with the encoding
 * of its offset and tasks, but runs no task.
 */
final private[scale] class DriverQuery(endpoint: String, stream: String, cluster: InventedCluster)
    extends AutoCloseable {
  private val session = new StreamSession(
    Options.read(QueryLoop.account(endpoint) ++ Map("streamName" -> stream, "initialPosition" -> "trim_horizon")),
    QueryContext.Unknown
  )
  private val limit = KinesisReadLimit(session.options)
  private val files =
    new HadoopCheckpointFiles(Files.createTempDirectory("bench").resolve("sources/0").toString, new Configuration)
  private val query = new SourceQuery(session, files, cluster, limit.limits, limit.minimum)
  private var at: SourceOffset = query.initialOffset
  private var offset = 0L
  private var tasks = 0L

  /** Bytes of the last offset, and of the ranges of the last batch as Java serializes them for the tasks. */
  def offsetBytes: Long = offset
  def taskBytes: Long = tasks

  /** Plans one batch. Returns its shards and rows, or `None` if there was nothing to read. */
  def trigger(): Option[(Int, Long)] = query.latestOffset(at, allAvailable = false).map { end =>
    val text = OffsetCodec.encode(end)
    val planned = query.tasks(at, end, cluster.slots)
    val metrics = query.metrics(Some(end))
    offset = text.length.toLong
    tasks = planned.map(serialized(_, end)).sum
    at = end
    (planned.map(_.ranges.size).sum, metrics("plannedRows").toLong)
  }

  override def close(): Unit = query.stop()

  private def serialized(task: TaskRanges, end: SourceOffset): Long = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new ObjectOutputStream(bytes))(
      _.writeObject(KinesisInputPartition(task.ranges, task.owner.toArray, query.streamIds(task, end)))
    )
    bytes.size.toLong
  }
}
