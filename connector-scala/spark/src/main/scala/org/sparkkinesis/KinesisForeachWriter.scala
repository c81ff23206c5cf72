package org.sparkkinesis

import java.util.{Locale, UUID}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{ForeachWriter, Row}

import org.sparkkinesis.config.{MetadataOptions, Options, WriteOptions}
import org.sparkkinesis.error.{KinesisConnectorException, OptionErrors}
import org.sparkkinesis.event.OptionDeprecated
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.spark.connection.ReadStreams
import org.sparkkinesis.spark.session.QueryNames
import org.sparkkinesis.spark.sink.{SinkDataWriter, TaskShare}
import org.sparkkinesis.spark.table.SecretWarnings
import org.sparkkinesis.spark.write.{WritePlan, WritePlanner}

/**
 * Writes the rows of a streaming query through Spark's `foreach`, which Spark accepts in real-time mode without
 * `spark.sql.streaming.realTimeMode.allowlistCheck=false`. Rows are sent while the batch runs, and the service has
 * stored all of them when the batch is committed, as with `format("kinesis")`.
 *
 * Spark creates a copy for each task; only the task's thread uses it.
 */
final class KinesisForeachWriter private (plan: WritePlan, schema: StructType) extends ForeachWriter[Row] {
  @transient private lazy val toInternal = CatalystTypeConverters.createToCatalystConverter(schema)

  /** Exists between `open` and `close` only. */
  @transient private var writer: SinkDataWriter = _

  override def open(partitionId: Long, epochId: Long): Boolean = {
    val task = TaskContext.get()
    val named = plan.ofQuery(QueryNames.ofTask(task, plan.query.streams))
    // Invalid rows are not held, because a ForeachWriter has no part in the commit of a batch.
    writer = named.newWriter(partitionId.toInt, TaskShare(letterBytes = 0, tasksAtOnce = task.numPartitions()))
    true
  }

  override def process(row: Row): Unit = writer.write(toInternal(row).asInstanceOf[InternalRow])

  override def close(failure: Throwable): Unit = if (writer != null) {
    try
      if (failure == null) {
        writer.commit()
        ()
      } else writer.abort()
    finally writer.close()
  }
}

object KinesisForeachWriter {

  /**
   * Checks the options, the columns and the streams, and returns a writer for rows with these columns. The options are
   * those of `format("kinesis")`, with `sendWhenIdle=true` unless it is set. Needs an active session.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   for the first problem, and for options that need a part in Spark's plan or in its commit: logical streams, a
   *   dead-letter table, and an order of rows
   */
  def apply(columns: StructType, options: Map[String, String]): ForeachWriter[Row] = {
    val names = options.keySet.map(_.toLowerCase(Locale.ROOT))
    val sendWhenIdle = WriteOptions.sendWhenIdle.key
    val checked =
      Options.read(
        if (names(sendWhenIdle.toLowerCase(Locale.ROOT))) options else options + (sendWhenIdle -> "true"),
        secrets = SecretWarnings.resolver
      )
    checked.warnings.foreach(warning => new EventLog(QueryContext.Unknown).emit(OptionDeprecated(warning)))
    if (checked.isSet(WriteOptions.deadLetterTable))
      throw refused(
        WriteOptions.deadLetterTable.key,
        "The rows are appended to the table when a batch is committed, and a ForeachWriter has no part in that.",
        s"Use '${WriteOptions.deadLetterStream.key}', or format(\"kinesis\")."
      )
    val planner = new WritePlanner(
      checked,
      ReadStreams.none,
      _ => true,
      (_, _, _) =>
        throw refused(
          MetadataOptions.streamId.key,
          "A ForeachWriter is planned once, before the query starts, so it cannot follow a logical stream.",
          "Name the stream with 'streamName' or 'streamARN', or use format(\"kinesis\")."
        )
    )
    val plan = planner.plan(columns, UUID.randomUUID().toString, queryType = None)
    if (plan.order.clusteredBy.nonEmpty || plan.order.sortedBy.nonEmpty)
      throw refused(
        if (plan.order.sortedBy.nonEmpty) WriteOptions.orderBy.key else WriteOptions.distributeByKey.key,
        "Spark does not distribute or sort the rows for a ForeachWriter. With 'ordering' key, the sink distributes " +
          "them by key unless 'distributeByKey' is false.",
        "Remove 'orderBy' and set 'distributeByKey' to false, if the rows of a key are in one task already, or use " +
          "format(\"kinesis\")."
      )
    new KinesisForeachWriter(plan, columns)
  }

  /** Does the same for Java and Python. */
  def of(columns: StructType, options: java.util.Map[String, String]): ForeachWriter[Row] =
    apply(columns, options.asScala.toMap)

  private def refused(option: String, reason: String, fix: String): KinesisConnectorException =
    OptionErrors.conflict(options = s"'$option' and those of a KinesisForeachWriter", reason = reason, fix = fix)
}
