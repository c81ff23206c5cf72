package org.sparkkinesis.bench.scale

import java.lang.management.ManagementFactory
import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.bench.Rounds.number
import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.process.EmulatorProcess

/**
 * A query whose driver is measured.
 *
 * @param chunks
 *   the number of chunks per second and shard
 * @param rows
 *   the number of rows of a chunk
 * @param every
 *   the interval between two batches
 */
final private[scale] case class DriverPhase(shards: Int, chunks: Double, rows: Int, every: FiniteDuration) {
  import DriverPhase._

  /**
   * Runs the query.
   *
   * @param time
   *   how long batches are measured
   * @param samples
   *   how often the live objects are counted meanwhile, which stops the JVM for a moment
   */
  def run(emulator: EmulatorProcess, time: FiniteDuration, samples: Int): DriverFigures = {
    val stream = s"driver-${System.nanoTime()}"
    emulator.createStream(stream, shards)
    Using.Manager { use =>
      val cluster = use(new InventedCluster(chunks, rows))
      val query = use(new DriverQuery(emulator.endpoint, stream, cluster))
      begin(query, cluster)
      trigger(query, math.max(WarmUp.toNanos, 2 * every.toNanos))(_ => ())
      measure(query, cluster, time, samples)
    }.get
  }

  private def begin(query: DriverQuery, cluster: InventedCluster): Unit = {
    val deadline = StartLimit.fromNow
    cluster.start()
    // The first batch waits until every shard has reported a chunk.
    while (query.trigger().isEmpty || cluster.assignedShards < shards)
      require(deadline.hasTimeLeft(), s"only ${cluster.assignedShards} of $shards shards were assigned")
  }

  private def measure(
      query: DriverQuery,
      cluster: InventedCluster,
      time: FiniteDuration,
      samples: Int
  ): DriverFigures = {
    val batches = mutable.ArrayBuffer.empty[Batch]
    val live = mutable.ArrayBuffer.empty[LiveObjects]
    val (messages, bytes, sent) = (cluster.received.sum, cluster.receivedBytes.sum, cluster.sent)
    val garbage = Garbage.now()
    val began = System.nanoTime()
    (1 to samples).foreach { _ =>
      // The summaries are counted when they are most: before the batch that takes them.
      trigger(query, math.max(time.toNanos / samples, every.toNanos))(batches += _)
      waitUntil(System.nanoTime() + every.toNanos)
      live += LiveObjects.count(classOf[ChunkSummary])
    }
    val seconds = (System.nanoTime() - began) / 1e9
    if (batches.isEmpty) throw new IllegalStateException(s"no batch was planned within $time")
    DriverFigures(
      this,
      batches.toVector,
      Garbage.now().since(garbage),
      live.toVector,
      messagesPerSecond = (cluster.received.sum - messages) / seconds,
      kilobytesPerSecond = (cluster.receivedBytes.sum - bytes) / seconds / 1000,
      sentPerSecond = (cluster.sent - sent) / seconds,
      query.offsetBytes,
      query.taskBytes
    )
  }

  /** Plans batches at the interval of the query for some time. */
  private def trigger(query: DriverQuery, nanos: Long)(onBatch: Batch => Unit): Unit = {
    val end = System.nanoTime() + nanos
    var next = System.nanoTime()
    while (System.nanoTime() < end) {
      val began = System.nanoTime()
      val planned = query.trigger()
      val millis = (System.nanoTime() - began) / 1e6
      planned.foreach { case (shards, rows) => onBatch(Batch(shards, rows, millis)) }
      next = math.max(next + every.toNanos, System.nanoTime())
      waitUntil(math.min(next, end))
    }
  }

  private def waitUntil(nanos: Long): Unit = while (System.nanoTime() < nanos)
    LockSupport.parkNanos(nanos - System.nanoTime())
}

private[scale] object DriverPhase {
  private val WarmUp = 2.seconds
  private val StartLimit = 2.minutes

  /** A batch, with the time in which the driver planned and encoded it. */
  final case class Batch(shards: Int, rows: Long, millis: Double)
}

/** Bytes that were allocated by the query's thread, by the RPC's thread, and by other threads of the driver. */
final private[scale] case class Garbage(query: Long, rpc: Long, others: Long) {
  def total: Long = query + rpc + others
  def since(earlier: Garbage): Garbage =
    Garbage(query - earlier.query, rpc - earlier.rpc, math.max(0, others - earlier.others))
}

private[scale] object Garbage {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Call it on the query's thread. Threads that have ended are not counted. */
  def now(): Garbage = {
    val ids = threads.getAllThreadIds
    val named = threads.getThreadInfo(ids).zip(threads.getThreadAllocatedBytes(ids)).collect {
      case (info, bytes) if info != null && bytes > 0 => (info.getThreadId, info.getThreadName, bytes)
    }
    val own = Thread.currentThread.getId
    val (query, rest) = named.filterNot(_._2.startsWith(InventedCluster.ExecutorThread)).partition(_._1 == own)
    val (rpc, others) = rest.partition(_._2 == InventedCluster.RpcThread)
    Garbage(query.map(_._3).sum, rpc.map(_._3).sum, others.map(_._3).sum)
  }
}

/**
 * What a driver used.
 *
 * @param messagesPerSecond
 *   messages from the executors to the driver
 * @param sentPerSecond
 *   messages from the driver to the executors
 */
final private[scale] case class DriverFigures(
    phase: DriverPhase,
    batches: Vector[DriverPhase.Batch],
    garbage: Garbage,
    live: Vector[LiveObjects],
    messagesPerSecond: Double,
    kilobytesPerSecond: Double,
    sentPerSecond: Double,
    offsetBytes: Long,
    taskBytes: Long
) {
  private val millis = batches.map(_.millis).sorted
  private def percentile(p: Int) = number(millis((millis.size - 1) * p / 100), 1)
  private def mean(values: Seq[Double]) = values.sum / values.size
  private def perBatch(bytes: Long) = number(bytes / 1e6 / batches.size, 2)

  /** The figures of the whole phase. */
  def json: Seq[(String, Json)] = Seq(
    "shards" -> Json.num(phase.shards.toLong),
    "chunks_per_second_and_shard" -> number(phase.chunks, 1),
    "rows_per_chunk" -> Json.num(phase.rows.toLong),
    "batch_seconds" -> number(phase.every.toNanos / 1e9, 1),
    "batches" -> Json.num(batches.size.toLong),
    "shards_per_batch" -> number(mean(batches.map(_.shards.toDouble)), 0),
    "rows_per_batch" -> number(mean(batches.map(_.rows.toDouble)), 0),
    "trigger_p50_ms" -> percentile(50),
    "trigger_p99_ms" -> percentile(99),
    "garbage_mb_per_batch" -> perBatch(garbage.total),
    "garbage_query_mb_per_batch" -> perBatch(garbage.query),
    "garbage_rpc_mb_per_batch" -> perBatch(garbage.rpc),
    "summaries_held" -> Json.num(live.map(_.instances).max),
    "live_heap_mb" -> number(live.last.bytes / 1e6, 1),
    "rpc_messages_per_second" -> number(messagesPerSecond, 0),
    "rpc_kb_per_second" -> number(kilobytesPerSecond, 0),
    "rpc_sent_per_second" -> number(sentPerSecond, 0),
    "offset_bytes_per_shard" -> Json.num(offsetBytes / phase.shards),
    "task_bytes_per_shard" -> number(taskBytes / mean(batches.map(_.shards.toDouble)), 0)
  )

  /** The live heap and the summaries over time. */
  def overTime: Seq[(String, Json)] = Seq(
    "live_heap_mb_over_time" -> Json.Arr(live.map(objects => number(objects.bytes / 1e6, 1))),
    "summaries_held_over_time" -> Json.Arr(live.map(objects => Json.num(objects.instances))),
    "live_heap_growth_mb" -> number((live.last.bytes - live.head.bytes) / 1e6, 1)
  )
}
