package org.sparkkinesis.spark.read

import java.util.OptionalLong

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference}
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.plan.prune.RowCondition
import org.sparkkinesis.spark.connection.OptionEffects
import org.sparkkinesis.spark.error.StatementException
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.read.batch.Conditions
import org.sparkkinesis.spark.read.reader.ReadMetrics
import org.sparkkinesis.spark.session.{QueryNames, StreamSession}
import org.sparkkinesis.spark.settings.KinesisSchema

/**
 * Builds a scan of the columns that a query needs.
 *
 * @param checked
 *   returns the options, or throws the error of an invalid one. Spark also creates a scan to describe a table, for
 *   which the options need not be valid, so a scan is built without them.
 */
final class KinesisScanBuilder(checked: () => Options) extends ScanBuilder with SupportsPushDownRequiredColumns
    with SupportsPushDownV2Filters
    with SupportsPushDownLimit {
  private lazy val options = StatementException.raised {
    val all = checked()
    OptionEffects.ofRead(all, query = None): Unit
    all
  }

  /** The columns to read. Streaming plans do not prune, and number the metadata columns after the others. */
  private var required = KinesisSchema.all
  private var isPlanned = false
  private var pushed = Pushed.Nothing

  /** Spark calls it when it plans a read, so this is the first time that an invalid option is an error. */
  override def pruneColumns(requiredSchema: StructType): Unit = {
    options: Unit
    required = requiredSchema
    isPlanned = true
  }

  /** Spark filters the rows as well, so each predicate only reduces what is read. Streaming plans push none. */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = {
    val conditions = Conditions.ofSession(options)
    pushed = pushed.copy(
      predicates = predicates.toSeq.filter(conditions.of(_) != RowCondition.Always),
      condition = conditions.of(predicates.toSeq)
    )
    predicates
  }

  override def pushedPredicates(): Array[Predicate] = pushed.predicates.toArray

  /** Spark takes no more rows, so this only avoids that a task fetches more. */
  override def pushLimit(limit: Int): Boolean = {
    pushed = pushed.copy(limit = Some(limit))
    true
  }

  override def build(): Scan = new KinesisScan(() => options, required, isPlanned, pushed)
}

/**
 * What a query wants of a table.
 *
 * @param predicates
 *   the predicates of which the condition consists
 */
final private[read] case class Pushed(predicates: Seq[Predicate], condition: RowCondition, limit: Option[Int]) {
  def text: String = {
    val where = Option.when(condition != RowCondition.Always)(s" where ${condition.text}")
    (where ++ limit.map(rows => s" limit $rows")).mkString
  }
}

private[read] object Pushed {
  val Nothing: Pushed = Pushed(Nil, RowCondition.Always, None)
}

/**
 * A read of one or more streams, batch or streaming.
 *
 * @param isPlanned
 *   whether Spark plans a read. Otherwise it describes a table, and no statistics are worth a call of the service.
 */
final class KinesisScan private[read] (
    checked: () => Options,
    schema: StructType,
    isPlanned: Boolean,
    pushed: Pushed = Pushed.Nothing
) extends Scan
    with SupportsReportStatistics
    with SupportsRuntimeV2Filtering {
  private lazy val options = checked()
  private lazy val batch = new KinesisBatch(options, schema, pushed.condition, pushed.limit)

  /** What the other side of a join has shown when the query runs. */
  private var runtime = Option.empty[RowCondition]
  private var stream: Option[KinesisMicroBatchStream] = None

  override def readSchema(): StructType = schema

  override def description(): String = s"${stream.fold(ReadDescription.ofBatch(options))(_.toString)}${pushed.text} " +
    schema.fieldNames.mkString("[", ", ", "]")

  override def toBatch: Batch = runtime.fold[Batch](batch)(batch.filtered)

  /** The columns by which a join can select shards. */
  override def filterAttributes(): Array[NamedReference] = {
    val columns = Seq(KinesisSchema.Stream, KinesisSchema.ShardId) ++
      Option.when(options(ReadOptions.partitionKeyPruning))(KinesisSchema.PartitionKey)
    columns.filter(schema.fieldNames.contains).map(Expressions.column).toArray
  }

  override def filter(predicates: Array[Predicate]): Unit =
    runtime = Some(Conditions.ofSession(options).of(predicates.toSeq))

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
    val session = new StreamSession(options, KinesisScan.queryOf(options))
    try {
      val created = StreamFactory.ofSpark.create(session, checkpointLocation, schema)
      stream = Some(created)
      created
    } catch {
      // Spark stops only a stream that it has received.
      case failure: Throwable =>
        session.close()
        throw failure
    }
  }

  /** Spark asks if the size matters to a plan, which is when it joins. It gets no answer for a stream. */
  override def estimateStatistics(): Statistics = {
    val size = if (isPlanned && stream.isEmpty) batch.size else None
    new Statistics {
      override def sizeInBytes(): OptionalLong = size.fold(OptionalLong.empty)(known => OptionalLong.of(known.bytes))
      override def numRows(): OptionalLong =
        size.flatMap(_.rows).fold(OptionalLong.empty)(rows => OptionalLong.of(rows))
    }
  }

  /** Spark asks at each batch. Its reader of real-time batches takes rows only. */
  override def columnarSupportMode(): Scan.ColumnarSupportMode =
    if (stream.exists(_.isRealTime)) Scan.ColumnarSupportMode.UNSUPPORTED else Scan.ColumnarSupportMode.SUPPORTED
  override def supportedCustomMetrics(): Array[CustomMetric] = ReadMetrics.all
}

private[read] object KinesisScan {

  /** Returns the query's name, id and streams for log lines. */
  def queryOf(options: Options): QueryContext =
    QueryNames.ofThread(SparkSession.active.sparkContext, MetadataSource.names(options))
}
