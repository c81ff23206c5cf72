package org.sparkkinesis.bench.scale

import java.util.concurrent.atomic.LongAdder

import scala.collection.mutable

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.{Scheduler, SerialExecutor}
import org.sparkkinesis.event.{ConsumerHealth, ConsumerMetrics}
import org.sparkkinesis.model.{SequenceNumber, StreamShard}
import org.sparkkinesis.spark.executor.ProgressReporter
import org.sparkkinesis.spark.protocol.{
  Assign, EndTasks, Peer, ProtocolCodec, Register, Release, SendFullReport, ServiceTime, StopAll, ToExecutor, Unassign
}

/**
 * An executor that reads nothing: it reports invented chunks of its shards with the connector's own reporter. Messages
 * arrive on any thread; [[fetch]] has one thread.
 *
 * @param send
 *   sends a message to the driver
 */
final private[scale] class InventedExecutor(val id: String, scheduler: Scheduler, send: Array[Byte] => Unit)
    extends Peer {
  import InventedExecutor._

  /** Number and bytes of the messages that the driver has sent. */
  val messages = new LongAdder
  val bytes = new LongAdder

  /** The number of requests for a full report, which follow a lost report. */
  val missedReports = new LongAdder

  private val orders = new SerialExecutor(scheduler, failure => throw failure)
  private val metrics = new ConsumerMetrics
  private val reporter = new ProgressReporter(
    id,
    Instance,
    scheduler,
    send,
    () => shards,
    () => false,
    () => Set.empty,
    () => metrics.snapshot + ("bufferedBytes" -> 0L),
    () => ConsumerHealth(),
    (_, epoch) => Some(epoch)
  )
  private val assigned = mutable.ArrayBuffer.empty[InventedShard]
  private var next = 0

  def registration: Array[Byte] = ProtocolCodec.encode(Register(id, "localhost", Instance))

  override def send(message: Array[Byte]): Unit = {
    messages.increment()
    bytes.add(message.length.toLong)
    orders.run(obey(ProtocolCodec.decodeToExecutor(message)))
  }

  private def obey(message: ToExecutor): Unit = message match {
    case Assign(shards, _, _) =>
      assigned.synchronized(assigned ++= shards.map(one => new InventedShard(one.shard, one.epoch))): Unit
    case Unassign(shards) =>
      val gone = shards.toSet
      assigned.synchronized(assigned.filterInPlace(shard => !gone(shard.shard))): Unit
    case SendFullReport => missedReports.increment()
    case StopAll => reporter.close()
    case _: Release | _: ServiceTime | EndTasks => ()
  }

  def shards: Int = assigned.synchronized(assigned.size)

  /** Reports one more chunk of the shard whose turn it is. */
  def fetch(rows: Int): Unit = {
    val shard = assigned.synchronized {
      Option.when(assigned.nonEmpty) {
        next = (next + 1) % assigned.size
        assigned(next)
      }
    }
    shard.foreach { one =>
      val now = System.currentTimeMillis()
      reporter.onChunks(one.shard, one.epoch, Seq(one.chunk(rows, now)))
      reporter.onReadUpTo(one.shard, one.epoch, now, millisBehindLatest = 0, hadRecords = true)
    }
  }
}

private[scale] object InventedExecutor {
  private val Instance = 1L
  private val RowBytes = 200L

  /** Sequence numbers have as many digits as the service's. */
  private val First = BigInt("49674026002850188218576229259473476449429298564223254594")

  final private class InventedShard(val shard: StreamShard, val epoch: Long) {
    private var chunks = 0L

    def chunk(rows: Int, now: Long): ChunkSummary = {
      chunks += 1
      val last = SequenceNumber.trusted((First + (BigInt(chunks) << 32)).toString)
      ChunkSummary(last, rows, rows * RowBytes, now, now, now, millisBehindLatest = 0)
    }
  }
}
