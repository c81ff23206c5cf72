package org.sparkkinesis.spark.read.realtime

import java.util.Optional

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.read.streaming.{Offset, PartitionOffset, ReadLimit, SupportsRealTimeMode}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType

import org.sparkkinesis.config.{MetadataOptions, QueryType, ReadOptions}
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.spark.read.{KinesisMicroBatchStream, KinesisSourceOffset}
import org.sparkkinesis.spark.session.StreamSession

/**
 * A stream that also supports Spark's real-time mode. Spark calls [[prepareForRealTimeMode]] once, before everything
 * else, if the query uses that mode; otherwise the stream behaves like its base class.
 */
final class RealTimeKinesisStream(session: StreamSession, checkpointLocation: String, schema: StructType)
    extends KinesisMicroBatchStream(session, checkpointLocation, schema)
    with SupportsRealTimeMode {
  private var realTime: Option[RealTimeQuery] = None

  override def isRealTime: Boolean = realTime.nonEmpty

  override def prepareForRealTimeMode(): Unit = {
    val limits = Seq(
      ReadOptions.maxRecordsPerTrigger,
      ReadOptions.maxBytesPerTrigger,
      ReadOptions.minRecordsPerTrigger,
      ReadOptions.alignShards
    )
    limits.find(entry => session.options.get(entry).nonEmpty).foreach { entry =>
      throw RealTimeErrors.unsupported(
        setting = s"Option '${entry.key}'",
        reason = "A real-time batch has no limit: records are handed over when they arrive, until its time is over.",
        fix = s"Remove '${entry.key}', or use a processing-time trigger."
      )
    }
    if (session.isLogical)
      throw RealTimeErrors.unsupported(
        setting = s"Option '${MetadataOptions.metadataService.key}'",
        reason = "The streams of a real-time query are fixed when it starts.",
        fix = "Name the streams with 'streamARN', or use a processing-time trigger."
      )
    if (spark.sparkContext.getConf.getBoolean("spark.speculation", defaultValue = false))
      throw RealTimeErrors.unsupported(
        setting = "spark.speculation=true",
        reason = "A speculative copy of a task would take the shards from the task that reads them.",
        fix = "Set spark.speculation to false."
      )
    noteType(QueryType.RealTime)
    query.fixStreams()
    realTime = Some(new RealTimeQuery(query, cluster, RealTimeSlots.ofJvm))
  }

  /**
   * Returns the start: the end of a real-time batch is known when it ends. Spark requires an offset, because a source
   * without one has no part in the batch.
   */
  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    if (isRealTime) start else super.latestOffset(start, limit)

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    query.explained(ofRealTime.plan(offset(start)).toArray[InputPartition])

  override def mergeOffsets(ends: Array[PartitionOffset]): Offset =
    remember(KinesisSourceOffset(ofRealTime.merge(ends.toSeq.map {
      case RealTimePartitionOffset(epoch) => epoch
      case other => throw new IllegalArgumentException(s"not an offset of this source: $other")
    })))

  override def commit(end: Offset): Unit = {
    realTime.foreach(_.committed(offset(end)))
    super.commit(end)
  }

  override def createReaderFactory(): PartitionReaderFactory =
    if (isRealTime) new RealTimeReaderFactory(query.sourceId, query.consumerSettings, schema)
    else super.createReaderFactory()

  override def metrics(latestConsumed: Optional[Offset]): java.util.Map[String, String] =
    realTime.fold(super.metrics(latestConsumed))(_.metrics.asJava)

  override def stop(): Unit =
    try realTime.foreach(_.close())
    finally super.stop()

  private def ofRealTime: RealTimeQuery =
    realTime.getOrElse(throw new IllegalStateException("the stream was not prepared for real-time mode"))
}
