package org.sparkkinesis.firehose

import java.util
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.connector.catalog.{SupportsWrite, Table, TableCapability}
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, Write, WriteBuilder}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.types.{BinaryType, StructField, StructType}

import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.config.FirehoseOptions
import org.sparkkinesis.event.ConnectorEvent
import org.sparkkinesis.spark.settings.KinesisSchema
import org.sparkkinesis.spark.sink.SinkWrite
import org.sparkkinesis.spark.table.{SecretWarnings, TableOptions}

/**
 * A table over one delivery stream, which can only be written.
 *
 * @param properties
 *   options of the table; the options of a write override them
 */
final class FirehoseTable(properties: Map[String, String]) extends Table with SupportsWrite with ReportsSinkMetrics {
  private val declared = new TableOptions(properties, FirehoseOptions.overTable(_, _, SecretWarnings.resolver))
  private val progress = FirehoseSink.newProgress(SystemClock)

  /** The events that are emitted once although each micro-batch is planned again. */
  private val told = ConcurrentHashMap.newKeySet[(String, ConnectorEvent)]()

  override def name(): String = FirehoseSink.format
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
      override def build(): Write = {
        val isNew = (event: ConnectorEvent) => told.add(info.queryId -> event)
        val planner = new FirehosePlanner(declared.merged(info.options()), isNew)
        new SinkWrite(planner.plan(info.schema, info.queryId), progress)
      }
    }

  override def metrics(): util.Map[String, String] = progress.metrics
  override def toString: String = s"FirehoseTable($declared)"
}

private[firehose] object FirehoseTable {
  val Columns: StructType = StructType(Seq(StructField(KinesisSchema.Data, BinaryType)))
}
