package org.sparkkinesis.firehose

import java.util
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sparkkinesis.SessionTable
import org.apache.spark.sql.connector.catalog.{SupportsWrite, TableCapability}
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.event.ConnectorEvent
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.sink.SinkWrite
import org.sparkkinesis.spark.table.TableOptions

/**
 * A table over one delivery stream, which can only be written. It exists whatever its options are; a wrong option is an
 * error of writing it.
 *
 * @param declared
 *   options of the table; the options of a write override them
 */
final class FirehoseTable(declared: TableOptions) extends SessionTable with SupportsWrite with ReportsSinkMetrics {
  private val progress = FirehoseSink.newProgress(SystemClock)

  /** The events that are emitted once although each micro-batch is planned again. */
  private val told = ConcurrentHashMap.newKeySet[(String, ConnectorEvent)]()

  override def name(): String = declared.peek.fold(s"$format(invalid options)") { options =>
    s"$format(${options.get(FirehoseOptions.deliveryStreamName).getOrElse("no delivery stream")})"
  }
  override def format: String = FirehoseSink.format
  override def isOfCatalog: Boolean = declared.isOfCatalog
  override def payloadColumn: String = KinesisSchema.Data

  /** It is never read. */
  override def checkColumnsOfRead(): Unit = ()
  override def properties(): util.Map[String, String] = declared.shown
  override def schema(): StructType = FirehoseTable.Columns

  override def capabilities(): util.Set[TableCapability] = util.EnumSet.of(
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    // The payload may be a string, and a row may have other columns, which are not written.
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  /** A stream is written in append mode, or in update mode, where every updated row becomes a record. */
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new WriteBuilder with SupportsStreamingUpdateAsAppend {
      override def build(): Write = StatementException.raised {
        val isNew = (event: ConnectorEvent) => told.add(info.queryId -> event)
        val planner = new FirehosePlanner(declared.merged(info.options()), isNew)
        new SinkWrite(planner.plan(info.schema, info.queryId), progress)
      }
    }

  override def metrics(): util.Map[String, String] = progress.metrics
  override def toString: String = name()
}

private[firehose] object FirehoseTable {
  val Columns: StructType = StructType(Seq(StructField(KinesisSchema.Data, BinaryType)))
}
