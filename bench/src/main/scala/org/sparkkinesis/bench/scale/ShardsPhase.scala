package org.sparkkinesis.bench.scale

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.LongAdder
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.util.Using

import org.sparkkinesis.bench.Rounds.number
import org.sparkkinesis.bench.{LiveHeap, Meter}
import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{PrefetchBuffer, ProgressListener, RecordPublisherFactory, ShardConsumers}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.json.Json
import org.sparkkinesis.model.{ChildShard, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * The consumers of many shards, first without records and then with slow traffic.
 *
 * @param name
 *   the beginning of the names of its figures
 * @param seconds
 *   how long each part is measured, and how long it settles before
 */
final private[scale] class ShardsPhase(name: String, shards: Seq[StreamShard], seconds: Int) {
  import ShardsPhase._

  /**
   * @param publishers
   *   how the shards are read
   * @param traffic
   *   starts a producer, which this closes
   */
  def run(publishers: RecordPublisherFactory)(traffic: => AutoCloseable): Seq[(String, Json)] = {
    val before = LiveHeap.bytes()
    val progress = new Progress(shards.size)
    val metrics = new ConsumerMetrics
    val consumers = new ShardConsumers(
      publishers,
      new PrefetchBuffer(256L << 20),
      DecodeSettings.of(Options.defaults),
      progress,
      metrics
    )
    progress.releaseBy(consumers)
    try {
      val began = System.nanoTime()
      shards.foreach(consumers.start(_, StartingPosition.Latest, 1))
      progress.awaitAnswers()
      val opened = (System.nanoTime() - began) / 1e9
      val idle = measured(progress)
      val heap = LiveHeap.bytes() - before
      val threads = ManagementFactory.getThreadMXBean.getThreadCount
      val busy = Using.resource(traffic) { _ =>
        progress.awaitRows()
        measured(progress)
      }
      require(idle.rows == 0 && busy.rows > 0, s"${idle.rows} records without traffic and ${busy.rows} with it")
      Seq(
        "open_seconds" -> number(opened, 2),
        "heap_bytes_each" -> Json.num(heap / shards.size),
        "threads" -> Json.num(threads.toLong),
        "idle_cpu_micros" -> number(idle.cpuMicros, 1),
        "traffic_cpu_micros" -> number(busy.cpuMicros, 1),
        "traffic_records_per_second" -> number(busy.rows.toDouble / seconds, 0),
        "throttles" -> Json.num(metrics.throttles.sum),
        "retries" -> Json.num(metrics.retries.sum)
      ).map { case (figure, value) => s"${name}_$figure" -> value }
    } finally consumers.stopAll()
  }

  /** Waits until the JVM has compiled what runs, and then measures. */
  private def measured(progress: Progress): Part = {
    TimeUnit.SECONDS.sleep(seconds.toLong)
    val before = progress.rows.sum
    val used = Meter.measure(shards.size.toLong * seconds)(TimeUnit.SECONDS.sleep(seconds.toLong))
    Part(used.cpuMicros, progress.rows.sum - before)
  }
}

private object ShardsPhase {

  /** CPU time of the JVM per shard and second, and the number of records that arrived. */
  final case class Part(cpuMicros: Double, rows: Long)

  /** Releases every chunk at once. */
  final class Progress(shards: Int) extends ProgressListener {
    val rows = new LongAdder
    private val answered = ConcurrentHashMap.newKeySet[StreamShard]
    private val allAnswered = new CountDownLatch(1)
    private val firstRows = new CountDownLatch(1)
    @volatile private var consumers = Option.empty[ShardConsumers]
    @volatile private var failure = Option.empty[ServiceException]

    def releaseBy(of: ShardConsumers): Unit = consumers = Some(of)

    override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
      rows.add(chunks.iterator.map(_.rows.toLong).sum)
      firstRows.countDown()
      consumers.foreach(_.release(shard, chunks.last.last))
    }

    override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit =
      if (answered.add(shard) && answered.size == shards) allAnswered.countDown()

    override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()

    override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = {
      failure = Some(error)
      Seq(allAnswered, firstRows).foreach(_.countDown())
    }

    def awaitAnswers(): Unit = await(allAnswered, s"only ${answered.size} of $shards shards answered")
    def awaitRows(): Unit = await(firstRows, "no record arrived")

    private def await(event: CountDownLatch, otherwise: => String): Unit = {
      val isThere = event.await(5, TimeUnit.MINUTES)
      failure.foreach(throw _)
      if (!isThere) throw new IllegalStateException(otherwise)
    }
  }
}
