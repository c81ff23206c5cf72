package org.sparkkinesis.bench.source

import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.util.Using

import org.sparkkinesis.aws.client.SdkClients
import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.fanout.StreamConsumerRegistrar
import org.sparkkinesis.consume.{PrefetchBuffer, ProgressListener, ShardConsumers}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.EmulatorProcess
import org.sparkkinesis.model.{ChildShard, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{PutEntry, ServiceException}

/**
 * Measures many enhanced fan-out subscriptions in one JVM, with the emulator in another: `SubscriptionsBenchmark
 * [--shards N]`. The last line is one JSON object: seconds until every shard has answered, heap per subscription
 * after a collection, threads, and seconds until a record of each shard has arrived.
 */
object SubscriptionsBenchmark {
  def main(args: Array[String]): Unit = {
    val shards = Arguments(args).number("shards", 2000)
    val emulator = new EmulatorProcess("4g", processor = Some(0))
    val service = SdkClients.create(ReadingStream.settings(emulator.endpoint))
    val scheduler = new SystemScheduler("bench", 2)
    try {
      val arn = Using.resource(BareClients.asynchronous(emulator.endpoint))(ReadingStream.createStream(_, shards))
      val consumer = new StreamConsumerRegistrar(
        service,
        scheduler,
        RetryPolicies.of(Options.defaults),
        RetryRules.Default
      ).ensure(arn, "scale").get(1, TimeUnit.MINUTES)
      val heapBefore = usedHeap()
      val listener = new Waiting(shards)
      val consumers = new ShardConsumers(
        ReadingLoops.fanOut(service, consumer, scheduler),
        new PrefetchBuffer(256L << 20),
        DecodeSettings.of(Options.defaults),
        listener,
        new ConsumerMetrics
      )
      val names = (0 until shards).map(i => StreamShard(arn, ShardId.ofIndex(i.toLong)))
      val from = System.nanoTime
      names.foreach(consumers.start(_, StartingPosition.TrimHorizon, 1))
      listener.awaitAnswers()
      val subscribed = (System.nanoTime - from) / 1e9
      val heap = (usedHeap() - heapBefore) / shards
      val pushed = System.nanoTime
      ReadingStream.hashKeys(shards).grouped(500).foreach { group =>
        service.putRecords(names.head.ref, group.map(hash => PutEntry("k", Some(hash), Array.emptyByteArray))).get()
      }
      listener.awaitRows()
      val came = (System.nanoTime - pushed) / 1e9
      val threads = ManagementFactory.getThreadMXBean.getThreadCount
      println(
        f"""{"subscriptions": $shards, "subscribed_seconds": $subscribed%.2f, "heap_bytes_each": $heap, """ +
          f""""threads": $threads, "records_came_seconds": $came%.2f}"""
      )
      consumers.stopAll()
    } finally {
      scheduler.close()
      service.close()
      emulator.close()
    }
  }

  private def usedHeap(): Long = {
    System.gc()
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }

  final private class Waiting(shards: Int) extends ProgressListener {
    private val answered = java.util.concurrent.ConcurrentHashMap.newKeySet[StreamShard]
    private val allAnswered = new CountDownLatch(1)
    private val rows = new AtomicLong
    private val allRows = new CountDownLatch(1)

    override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit =
      if (rows.addAndGet(chunks.iterator.map(_.rows.toLong).sum) >= shards) allRows.countDown()
    override def onReadUpTo(shard: StreamShard, epoch: Long, readUpToMillis: Long, millisBehindLatest: Long): Unit =
      if (answered.add(shard) && answered.size == shards) allAnswered.countDown()
    override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
    override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = throw error

    def awaitAnswers(): Unit =
      if (!allAnswered.await(3, TimeUnit.MINUTES))
        throw new IllegalStateException(s"${answered.size} of $shards answered")
    def awaitRows(): Unit =
      if (!allRows.await(3, TimeUnit.MINUTES)) throw new IllegalStateException(s"${rows.get} of $shards records came")
  }
}
