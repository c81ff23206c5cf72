package org.sparkkinesis.bench.latency

import java.util

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset, PartitionOffset, SupportsRealTimeMode}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import org.sparkkinesis.config.Options
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.plan.realtime.{BatchShards, LiveShard}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.read.live.{LiveRead, LiveTask}
import org.sparkkinesis.spark.read.realtime.{RealTimePartitionOffset, RealTimeReader}
import org.sparkkinesis.spark.settings.{KinesisSchema, ReadSettings}

/**
 * A source in real-time mode whose records are published in this JVM: the connector's buffer and reader, and Spark's
 * path of a row, without a service and a network. Its latency is the minimum for the connector. Option `rate`: records
 * per second.
 */
final class InJvmSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = KinesisSchema.columns

  override def getTable(schema: StructType, partitioning: Array[Transform], all: util.Map[String, String]): Table =
    new Table with SupportsRead {
      override def name: String = "in-jvm"
      override def schema: StructType = KinesisSchema.columns
      override def capabilities: util.Set[TableCapability] = util.Set.of(TableCapability.MICRO_BATCH_READ)
      override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
        new Scan {
          override def readSchema: StructType = schema
          override def columnarSupportMode: Scan.ColumnarSupportMode = Scan.ColumnarSupportMode.UNSUPPORTED
          override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
            new InJvmStream(options.getInt("rate", 0))
        }
    }
}

/** The batches of the source. Positions are kept in memory only. */
final private class InJvmStream(rate: Int) extends MicroBatchStream with SupportsRealTimeMode {
  import InJvmStream._

  private var positions: Map[StreamShard, ShardPosition] = shards.map(_ -> ShardPosition.Horizon).toMap
  private var batches = 0L

  override def initialOffset: Offset = InJvmOffset(0)
  override def latestOffset: Offset = InJvmOffset(batches)
  override def deserializeOffset(json: String): Offset = InJvmOffset(json.toLong)
  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    throw new UnsupportedOperationException("the source runs in real-time mode only")

  override def planInputPartitions(start: Offset): Array[InputPartition] =
    shards.grouped(Shards / Tasks).map { run =>
      val live = run.map(shard => LiveShard(shard, shard.stream, positions(shard), None)).toVector
      LiveTask(live, Set.empty, BatchShards.Empty, Array.empty, System.currentTimeMillis())
    }.toArray

  override def mergeOffsets(ends: Array[PartitionOffset]): Offset = {
    val outcomes = InJvmConsumers.takeEnds(ends.toSeq.collect { case RealTimePartitionOffset(epoch) => epoch })
      .flatMap(_.outcomes)
    positions ++= outcomes.map(of => of.shard -> of.position)
    batches += 1
    InJvmOffset(batches)
  }

  override def createReaderFactory(): PartitionReaderFactory = new InJvmReaders(rate)
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = InJvmConsumers.stop()
}

private object InJvmStream {
  private val Shards = 4
  private val Tasks = 2
  val shards: Seq[StreamShard] = (0 until Shards).map(i => StreamShard("in-jvm", ShardId.ofIndex(i.toLong)))
}

final private case class InJvmOffset(batches: Long) extends Offset {
  override def json: String = batches.toString
}

final private class InJvmReaders(rate: Int) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val consumers = InJvmConsumers.started(rate, InJvmStream.shards)
    val settings = ReadSettings(Options.defaults, Map.empty)
    val task = partition.asInstanceOf[LiveTask]
    val epoch = TaskContext.get().taskAttemptId() + 1
    val reading = new LiveRead(task, consumers, epoch, settings, Environment.OfJvm)
    new RealTimeReader(reading, KinesisSchema.columns)
  }
}
