package org.sparkkinesis.interop.kcl

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import software.amazon.kinesis.lifecycle.events._
import software.amazon.kinesis.processor.{ShardRecordProcessor, ShardRecordProcessorFactory}

import org.sparkkinesis.interop.Tally

/** Creates KCL's processors, one per shard, and records when each shard was started and finished. Thread-safe. */
final class ShardReaders(tally: Tally) extends ShardRecordProcessorFactory {
  private val events = mutable.ArrayBuffer.empty[ShardReaders.Event]
  private val fromContainers = ConcurrentHashMap.newKeySet[String]()

  def seen: Seq[ShardReaders.Event] = events.synchronized(events.toSeq)

  /** Returns the number of read records that were in KPL containers. */
  def unpacked: Int = fromContainers.size

  override def shardRecordProcessor(): ShardRecordProcessor = new ShardRecordProcessor {
    private var shard = ""

    override def initialize(input: InitializationInput): Unit = {
      shard = input.shardId
      note(ShardReaders.Begun(shard))
    }

    override def processRecords(input: ProcessRecordsInput): Unit = {
      input.records.asScala.foreach { record =>
        val data = UTF_8.decode(record.data).toString
        if (record.aggregated) fromContainers.add(data)
        tally.read(data)
      }
      if (!input.records.isEmpty) input.checkpointer.checkpoint()
    }

    override def leaseLost(input: LeaseLostInput): Unit = ()

    override def shardEnded(input: ShardEndedInput): Unit = {
      note(ShardReaders.Ended(shard))
      input.checkpointer.checkpoint()
    }

    override def shutdownRequested(input: ShutdownRequestedInput): Unit = input.checkpointer.checkpoint()
  }

  private def note(event: ShardReaders.Event): Unit = events.synchronized(events += event): Unit
}

object ShardReaders {
  sealed trait Event
  final case class Begun(shard: String) extends Event
  final case class Ended(shard: String) extends Event
}
