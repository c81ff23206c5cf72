package org.sparkkinesis.bench.latency

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume._
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{ChildShard, KinesisRecord, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.plan.realtime.{LiveShard, TaskEnd}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.executor.{LiveConsumers, LiveFeed}

/** The connector's consumers, with records that a thread of this JVM publishes at a steady rate. Thread-safe. */
final class InJvmConsumers private extends LiveConsumers with ProgressListener with AutoCloseable {
  private val publishers = new InJvmPublishers
  private val consumers = new ShardConsumers(
    publishers,
    new PrefetchBuffer(64L << 20),
    DecodeSettings.of(Options.defaults),
    this,
    new ConsumerMetrics
  )
  private val feeds = new ConcurrentHashMap[StreamShard, LiveFeed]
  private val ends = new ConcurrentHashMap[Long, TaskEnd]
  @volatile private var isClosed = false

  /** Starts the thread that publishes. */
  private def start(rate: Int, shards: Seq[StreamShard]): Unit = {
    val thread = new Thread(() =>
      TimedRecords.atRate(rate) { payloads =>
        payloads.grouped(payloads.size / shards.size).zip(shards).foreach { case (part, shard) =>
          publishers.publish(shard, part)
        }
        !isClosed
      }
    )
    thread.setDaemon(true)
    thread.start()
  }

  /** The driver has the same clock. */
  override def heard(serviceMillis: Long): Unit = ()

  override def claim(feed: LiveFeed, shards: Seq[LiveShard], areChildren: Boolean): Unit = {
    shards.foreach(one => feeds.put(one.shard, feed))
    for (one <- shards; from <- one.position.resumeAt) consumers.start(one.shard, from, feed.epoch)
    shards.foreach(one => feed.tell(one.shard))
  }

  override def head(shard: StreamShard, from: StartingPosition): Option[ShardHead] = consumers.head(shard, from)
  override def release(shard: StreamShard, upTo: SequenceNumber): Unit = consumers.release(shard, upTo)
  override def finished(shard: StreamShard, waiting: Seq[ChildShard]): Unit = ()
  override def deliver(epoch: Long, end: TaskEnd): Unit = ends.put(epoch, end): Unit
  override def leave(feed: LiveFeed): Unit = feed.close()

  override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = feeds.get(shard).tell(shard)
  override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit = ()
  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = throw error

  override def close(): Unit = {
    isClosed = true
    consumers.stopAll()
  }
}

/** The consumers of the query that runs. */
object InJvmConsumers {
  private var current = Option.empty[InJvmConsumers]

  def started(rate: Int, shards: Seq[StreamShard]): InJvmConsumers = synchronized {
    current.getOrElse {
      val fresh = new InJvmConsumers
      fresh.start(rate, shards)
      current = Some(fresh)
      fresh
    }
  }

  /** Returns the ends of these attempts of tasks, and forgets the others. */
  def takeEnds(epochs: Seq[Long]): Seq[TaskEnd] = synchronized {
    val ends = current.toSeq.map(_.ends)
    val taken = ends.flatMap(of => epochs.map(of.get))
    ends.foreach(_.clear())
    taken
  }

  def stop(): Unit = synchronized {
    current.foreach(_.close())
    current = None
  }
}

/** Publishes records within this JVM, on the thread that supplies them or that requests them. */
final private class InJvmPublishers extends RecordPublisherFactory {
  private val publishers = new ConcurrentHashMap[StreamShard, Publisher]
  private val lastNumber = new AtomicLong(1000000000L)

  override def subscribe(shard: StreamShard, position: StartingPosition, subscriber: RecordSubscriber)
      : RecordPublisher = {
    val publisher = new Publisher(subscriber)
    publishers.put(shard, publisher)
    publisher
  }

  /** Publishes one record for each payload to the subscriber of the shard, if there is one. */
  def publish(shard: StreamShard, payloads: Seq[Array[Byte]]): Unit = Option(publishers.get(shard)).foreach { to =>
    val now = System.currentTimeMillis
    val records = payloads.map { payload =>
      val number = lastNumber.incrementAndGet()
      KinesisRecord.delivered(number.toString, s"key-$number", now, payload, null)
    }
    to.publish(RecordBatch(records.toVector, millisBehindLatest = 0, now))
  }

  final private class Publisher(subscriber: RecordSubscriber) extends RecordPublisher {
    private val queued = mutable.Queue.empty[RecordBatch]
    private var wanted = 0
    private var isPublishing = false

    def publish(batch: RecordBatch): Unit = {
      synchronized(queued += batch)
      drain()
    }

    override def request(maxBytes: Long): Unit = {
      synchronized(wanted += 1)
      drain()
    }

    override def cancel(): Unit = synchronized(queued.clear())

    /** Never calls the subscriber concurrently: the thread that publishes takes what comes meanwhile. */
    private def drain(): Unit = Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.foreach { batch =>
      try subscriber.onBatch(batch)
      finally synchronized { isPublishing = false }
    }

    private def next(): Option[RecordBatch] = synchronized {
      Option.when(!isPublishing && wanted > 0 && queued.nonEmpty) {
        isPublishing = true
        wanted -= 1
        queued.dequeue()
      }
    }
  }
}
