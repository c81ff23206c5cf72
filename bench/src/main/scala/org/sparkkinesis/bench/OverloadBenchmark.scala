package org.sparkkinesis.bench

import java.lang.management.{BufferPoolMXBean, ManagementFactory, MemoryType}
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.aws.{ClientSettings, CredentialSettings, SdkClients}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.consume._
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.model.{ChildShard, ShardId, StartingPosition}
import org.sparkkinesis.service.ServiceException

/**
 * Consumers of a backlog that is taken off their hands at a tenth of the rate at which it could come:
 * `OverloadBenchmark [--seconds N] [--shards N] [--records N]`. Run it with a small heap. The last line is one JSON
 * object: for polling and for fan-out the peak of the prefetch buffer as a share of its capacity, what the last collection left of the heap,
 * the peak of direct memory, rows taken, and how many shards they came from.
 */
object OverloadBenchmark {
  private val RowsPerSecond = 20000

  def main(args: Array[String]): Unit = {
    val options = args.grouped(2).collect { case Array(key, value) => key.stripPrefix("--") -> value }.toMap
    val seconds = options.getOrElse("seconds", "60").toInt / 2
    val shards = options.getOrElse("shards", "64").toInt
    val emulator = new EmulatorProcess("4g")
    val settings =
      ClientSettings(
        Some("us-east-1"),
        Some(emulator.endpoint),
        CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
      )
    val service = SdkClients.create(settings)
    val scheduler = new SystemScheduler("bench", 2)
    try {
      val arn = Using.resource(ReadingRounds.bareClient(emulator.endpoint)) { client =>
        ReadingRounds.load(client, shards, options.getOrElse("records", "2000000").toInt)
        service.describeStream(org.sparkkinesis.model.StreamRef.ByName(ReadingRounds.Stream)).get().arn
      }
      val consumer = new StreamConsumerRegistrar(service, scheduler).ensure(arn, "overload").get(1, TimeUnit.MINUTES)
      val polling = run("polling", ReadingLoops.polling(service, scheduler), arn, shards, seconds)
      val fanOut = run("efo", ReadingLoops.fanOut(service, consumer, scheduler), arn, shards, seconds)
      println((polling ++ fanOut).mkString("{", ", ", "}"))
    } finally {
      scheduler.close()
      service.close()
      emulator.close()
    }
  }

  private def run(
      mode: String,
      publishers: RecordPublisherFactory,
      arn: String,
      shards: Int,
      seconds: Int
  ): Seq[String] = {
    val newest = new ConcurrentHashMap[StreamShard, ChunkSummary]
    val failure = new AtomicReference[ServiceException]
    val listener = new ProgressListener {
      override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = ()
      override def onReadUpTo(shard: StreamShard, epoch: Long, readUpToMillis: Long, millisBehindLatest: Long): Unit =
        ()
      override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
      override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = failure.set(error)
    }
    val buffer = new PrefetchBuffer(Runtime.getRuntime.maxMemory / 4)
    val consumers = new ShardConsumers(publishers, buffer, DecodeSettings(), listener, new ConsumerMetrics)
    val names = (0 until shards).map(i => StreamShard(arn, ShardId.ofIndex(i.toLong)))
    names.foreach(consumers.start(_, StartingPosition.TrimHorizon, 1))
    val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds.toLong)
    var peakBuffer, peakDirect, taken = 0L
    var turn = 0
    val from = System.nanoTime
    while (System.nanoTime < end) {
      peakBuffer = math.max(peakBuffer, buffer.usedBytes)
      peakDirect = math.max(peakDirect, directBytes)
      // One chunk of each shard in turn, as long as the rate allows.
      val last = turn + shards
      while (turn < last && taken < (System.nanoTime - from) / 1e9 * RowsPerSecond) {
        val shard = names(turn % shards)
        turn += 1
        consumers.snapshot(shard).flatMap(_.chunks.headOption).foreach { chunk =>
          newest.put(shard, chunk)
          taken += chunk.rows
          consumers.release(shard, chunk.last)
        }
      }
      TimeUnit.MILLISECONDS.sleep(5)
    }
    System.gc()
    val live = heapAfterCollection
    consumers.stopAll()
    Option(failure.get).foreach(throw _)
    Seq(
      f""""${mode}_peak_buffer_share": ${peakBuffer.toDouble / buffer.capacity}%.3f""",
      s""""${mode}_live_heap_mb": ${live >> 20}""",
      s""""${mode}_peak_direct_mb": ${peakDirect >> 20}""",
      s""""${mode}_rows_per_second": ${taken / seconds}""",
      s""""${mode}_shards_served": ${newest.size}"""
    )
  }

  /** What the last collection of each heap pool left; more is being allocated all the time. */
  private def heapAfterCollection: Long = ManagementFactory.getMemoryPoolMXBeans.asScala.iterator
    .filter(_.getType == MemoryType.HEAP)
    .flatMap(pool => Option(pool.getCollectionUsage))
    .map(_.getUsed)
    .sum

  private def directBytes: Long =
    ManagementFactory.getPlatformMXBeans(
      classOf[BufferPoolMXBean]
    ).asScala.filter(_.getName == "direct").map(_.getMemoryUsed).sum
}
