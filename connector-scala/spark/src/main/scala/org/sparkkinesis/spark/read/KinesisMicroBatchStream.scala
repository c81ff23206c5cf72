package org.sparkkinesis.spark.read

import java.util.Optional

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.QueryType
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}
import org.sparkkinesis.spark.connection.{OptionEffects, ReadStreams}
import org.sparkkinesis.spark.coordinator.cluster.{ApplicationEnd, ExecutorCluster, SparkCluster}
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.read.query.SourceQuery
import org.sparkkinesis.spark.read.reader.{KinesisInputPartition, KinesisReaderFactory}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.HadoopCheckpointFiles
import org.sparkkinesis.spark.settings.KinesisReadLimit

/** A source offset in the form that Spark's offset log stores. */
final case class KinesisSourceOffset(value: SourceOffset) extends Offset {
  override lazy val json: String = OffsetCodec.encode(value)
}

/** Adapts [[SourceQuery]] to Spark's streaming source interfaces. Spark calls it from the query's thread. */
class KinesisMicroBatchStream(session: StreamSession, checkpointLocation: String, schema: StructType)
    extends MicroBatchStream
    with SupportsAdmissionControl
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  protected val spark: SparkSession = SparkSession.active
  protected val cluster: ExecutorCluster = new SparkCluster(spark.sparkContext)
  private val admission = KinesisReadLimit(session.options)
  private val reading = ReadStreams.read(session.identities)
  private val hadoop = spark.sessionState.newHadoopConf()
  protected val query = new SourceQuery(
    session,
    new HadoopCheckpointFiles(checkpointLocation, hadoop),
    cluster,
    admission.limits,
    admission.minimum,
    metadata = Option.when(session.isLogical)(MetadataSource.open(session.options, hadoop, session.events))
  )

  private val ending = ApplicationEnd.run(spark.sparkContext)(() => query.endWithApplication())

  /**
   * The last two offsets, newest first. Spark deserializes both at every trigger, which is slow with thousands of
   * shards.
   */
  private var recent = Vector.empty[KinesisSourceOffset]

  private var isReported = false

  /** Reports the options without an effect, once: the first call of Spark for a trigger tells the type of the query. */
  protected def noteType(query: QueryType): Unit = if (!isReported) {
    isReported = true
    OptionEffects.reportRead(session.options, query, session.events)
  }

  /** Whether the query uses Spark's real-time mode. */
  def isRealTime: Boolean = false

  /** Spark calls it at every trigger until the first batch. */
  override def initialOffset(): Offset = KinesisSourceOffset(query.initialOffset)

  override def getDefaultReadLimit: ReadLimit = admission

  override def prepareForTriggerAvailableNow(): Unit = {
    noteType(QueryType.AvailableNow)
    query.prepareForAvailableNow()
  }

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException("call latestOffset(Offset, ReadLimit) instead")

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
    val takesAll = limit.isInstanceOf[ReadAllAvailable]
    noteType(if (takesAll) QueryType.Once else QueryType.ProcessingTime)
    query.latestOffset(offset(start), takesAll) match {
      case Some(end) => remember(KinesisSourceOffset(end))
      // Return null instead of `start`: Spark would run an empty first batch for `start`.
      case None => null
    }
  }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
    val to = offset(end)
    query.tasks(offset(start), to, spark.sparkContext.defaultParallelism)
      .map(task => KinesisInputPartition(task.ranges, task.owner.toArray, query.streamIds(task, to)))
      .toArray
  }

  override def createReaderFactory(): PartitionReaderFactory =
    new KinesisReaderFactory(Some(query.sourceId), query.readSettings, schema)

  override def deserializeOffset(json: String): Offset =
    recent.find(_.json == json).getOrElse(remember(KinesisSourceOffset(OffsetCodec.decode(json))))

  protected def remember(offset: KinesisSourceOffset): KinesisSourceOffset = {
    recent = offset +: recent.take(1)
    offset
  }

  /** Releases no records: that happens when the next batch is planned. */
  override def commit(end: Offset): Unit = if (session.isDynamic) query.committed(offset(end))

  override def stop(): Unit =
    try query.stop()
    finally {
      reading.close()
      ending.close()
    }

  override def metrics(latestConsumed: Optional[Offset]): java.util.Map[String, String] =
    query.metrics(recent.headOption.map(_.value)).asJava

  /** The description in the progress of a query. */
  override def toString: String = ReadDescription.ofStream(session.options)

  protected def offset(of: Offset): SourceOffset = of match {
    case KinesisSourceOffset(value) => value
    case other => OffsetCodec.decode(other.json)
  }
}
