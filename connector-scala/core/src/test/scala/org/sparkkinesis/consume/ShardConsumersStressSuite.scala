package org.sparkkinesis.consume

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.{Executors, TimeUnit}

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.{SerialExecutor, SystemClock, SystemScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.spill.{ChunkSpill, MemoryFiles, SpillLost, SpilledChunk}
import org.sparkkinesis.event.{ConsumerMetrics, EventSink}
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.suite.TimedSuite

/**
 * Many real threads use the consumers at the same time. Each read returns the exact range or nothing, and the sums are
 * correct.
 */
class ShardConsumersStressSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 2.minutes

  /**
   * Every shard has the records 1, 2, 3, … without end. Each request delivers some of them on the scheduler's threads.
   */
  final private class Endless(scheduler: SystemScheduler) extends RecordPublisherFactory {
    override def subscribe(
        shard: StreamShard,
        position: StartingPosition,
        subscriber: RecordSubscriber
    ): RecordPublisher =
      new RecordPublisher {
        private val steps = new SerialExecutor(scheduler, failure => problems.compareAndSet(null, failure))
        private var next = position match {
          case AfterSequenceNumber(number) => number.value.toInt + 1
          case _ => 1
        }
        @volatile private var cancelled = false
        override def request(maxBytes: Long): Unit = steps.run {
          if (!cancelled) {
            val records = Vector.tabulate(Random.nextInt(40))(i => record(next + i))
            next += records.size
            subscriber.onBatch(RecordBatch(records, 1, 0))
          }
        }
        override def cancel(): Unit = cancelled = true
      }
  }
  private def record(n: Int) = new KinesisRecord(n.toString, s"k$n", n.toLong, n.toString.getBytes, null)
  private val Reading = 9
  private val problems = new AtomicReference[Throwable]
  private def number(n: Int) = SequenceNumber(n.toString)

  for (usesFiles <- Seq(false, true))
    test(s"random starts, releases, reads and stops from many threads give exact ranges, files: $usesFiles")(
      runs(usesFiles)
    )

  private def runs(usesFiles: Boolean): Unit = {
    val scheduler = new SystemScheduler("stress", 3)
    val files = new MemoryFiles
    val spill =
      Option.when(usesFiles)(new ChunkSpill(files, 2 << 20, 50, 1 << 20, SystemClock, EventSink.Discard))
    val buffer = new PrefetchBuffer(if (usesFiles) 5000 else 200000, spill)
    val last = new java.util.concurrent.ConcurrentHashMap[(StreamShard, Long), String]
    val listener = new ProgressListener {
      override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = chunks.foreach {
        chunk =>
          // Records are in order within one epoch. Only a newer epoch restarts the consumer.
          val before = Option(last.put((shard, epoch), chunk.last.value)).map(SequenceNumber(_))
          if (before.exists(_ >= chunk.last))
            problems.compareAndSet(null, new AssertionError(s"$shard: ${chunk.last} was reported after $before"))
      }
      override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit =
        ()
      override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
      override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = ()
    }
    val consumers = new ShardConsumers(
      new Endless(scheduler),
      buffer,
      DecodeSettings.of(Options.defaults).copy(maxChunkRows = 7),
      listener,
      new ConsumerMetrics
    )
    val shards = Vector.tabulate(6)(i => StreamShard("stress", ShardId.ofIndex(i.toLong)))
    val epochs = new AtomicInteger
    val served = new AtomicInteger
    val fromFiles = new AtomicInteger
    val lost = new AtomicInteger
    val end = System.nanoTime + 4.seconds.toNanos
    val seed = Random.nextLong()

    def act(random: Random): Unit = {
      val shard = shards(random.nextInt(shards.size))
      // Consumers that are not restarted and released all the time fill the memory.
      val isCalm = usesFiles && random.nextInt(100) < 98
      (if (isCalm) Reading else random.nextInt(10)) match {
        case 0 => consumers.start(shard, TrimHorizon, epochs.incrementAndGet().toLong)
        case 1 =>
          consumers.start(shard, AfterSequenceNumber(number(random.nextInt(500) + 1)), epochs.incrementAndGet().toLong)
        case 2 => if (random.nextInt(5) == 0) consumers.stop(shard)
        case 3 | 4 | 5 =>
          consumers.snapshot(shard).flatMap(_.chunks.lastOption).foreach { chunk =>
            consumers.release(shard, number(math.max(1, chunk.last.value.toInt - random.nextInt(30))))
          }
        case _ =>
          for (snapshot <- consumers.snapshot(shard); newest <- snapshot.chunks.lastOption) {
            val to = math.max(1, newest.last.value.toInt - random.nextInt(20))
            val from = snapshot.heldFrom match {
              case AfterSequenceNumber(held) => held.value.toInt + random.nextInt(20)
              case _ => 0
            }
            val after = if (from == 0) snapshot.heldFrom else AfterSequenceNumber(number(from))
            consumers.read(shard, after, number(to)).foreach { chunks =>
              try {
                val read =
                  chunks.flatMap(_.load()).flatMap(c => (0 until c.rows).map(c.sequenceNumber(_).value.toInt))
                if (read != (from + 1 to to)) throw new AssertionError(s"seed $seed: ($from, $to] gave $read")
                served.incrementAndGet()
                if (chunks.exists(_.isInstanceOf[SpilledChunk])) fromFiles.incrementAndGet()
              } catch {
                // Another thread has released the records meanwhile.
                case _: SpillLost => lost.incrementAndGet()
              }
            }
          }
      }
    }

    val threads = Executors.newFixedThreadPool(4)
    (1 to 4).foreach { i =>
      threads.execute { () =>
        val random = new Random(seed + i)
        try while (System.nanoTime < end && problems.get == null) act(random)
        catch { case error: Throwable => problems.compareAndSet(null, error) }
      }
    }
    threads.shutdown()
    assert(threads.awaitTermination(1, TimeUnit.MINUTES))
    Option(problems.get).foreach(throw _)
    assert(served.get > 100, served.get)
    assert(fromFiles.get > 10 == usesFiles, s"${fromFiles.get} from files, ${lost.get} lost, ${files.written}")
    // No shard is stuck: after a release, records arrive again.
    shards.foreach(consumers.start(_, TrimHorizon, epochs.incrementAndGet().toLong))
    shards.foreach { shard =>
      val before = consumers.snapshot(shard).get.chunks.lastOption.fold(0)(_.last.value.toInt)
      val deadline = 30.seconds.fromNow
      def newest = consumers.snapshot(shard).get.chunks.lastOption.fold(0)(_.last.value.toInt)
      while (newest <= before + 1000) {
        assert(deadline.hasTimeLeft(), s"seed $seed: $shard is stuck at $newest")
        consumers.release(shard, number(math.max(1, newest)))
        Thread.`yield`()
      }
    }
    consumers.stopAll()
    scheduler.close()
    // A batch may still be on its way when its consumer stops.
    assert(scheduler.awaitTermination(20.seconds))
    assert(buffer.usedBytes == 0L && files.count == 0 && spill.forall(_.usedBytes == 0))
  }
}
