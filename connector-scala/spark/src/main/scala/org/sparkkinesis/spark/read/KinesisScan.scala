package org.sparkkinesis.spark.read

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.Options
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.spark.connection.OptionEffects
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.read.reader.ReadMetrics
import org.sparkkinesis.spark.session.{QueryNames, StreamSession}
import org.sparkkinesis.spark.settings.KinesisSchema

/** Builds a scan of the columns that a query needs. */
final class KinesisScanBuilder(options: Options) extends ScanBuilder with SupportsPushDownRequiredColumns {

  /** The columns to read. Streaming plans do not prune, and number the metadata columns after the others. */
  private var required = KinesisSchema.all

  override def pruneColumns(requiredSchema: StructType): Unit = required = requiredSchema
  override def build(): Scan = {
    OptionEffects.ofRead(options, query = None)
    new KinesisScan(options, required)
  }
}

/** A read of one or more streams, batch or streaming. */
final class KinesisScan(options: Options, schema: StructType) extends Scan {
  private var stream: Option[KinesisMicroBatchStream] = None

  override def readSchema(): StructType = schema

  override def description(): String =
    s"kinesis ${MetadataSource.names(options).mkString(", ")} [${schema.fieldNames.mkString(", ")}]"

  override def toBatch: Batch = new KinesisBatch(options, schema)

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
