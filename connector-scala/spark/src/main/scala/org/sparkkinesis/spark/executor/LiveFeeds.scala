package org.sparkkinesis.spark.executor

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.consume.ProgressListener
import org.sparkkinesis.error.RealTimeErrors
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.plan.realtime.LiveShard
import org.sparkkinesis.service.ServiceException

/**
 * Passes the events of a source's consumers in one JVM to the tasks of real-time batches. Chunks of shards without a
 * task go to the reporter; what a task reads needs no report, except for the shard's lag. Thread-safe.
 */
final private[executor] class LiveFeeds(reporter: ProgressListener) extends ProgressListener {
  private val feeds = new ConcurrentHashMap[StreamShard, LiveFeed]

  /** The shards of which the driver knows the first chunk since their task began. */
  private val begun = ConcurrentHashMap.newKeySet[StreamShard]()

  /**
   * Gives shards to a task. Another task that still reads one of them fails: it is an earlier attempt, or, if the shard
   * is a child that the task begins within its batch, the stream was recreated and two tasks have found the same child.
   */
  def open(feed: LiveFeed, shards: Seq[LiveShard], areChildren: Boolean): Unit = shards.foreach { one =>
    begun.remove(one.shard)
    val other = feeds.put(one.shard, feed)
    if (other != null && (other ne feed) && other.isOpen) {
      val cause = LiveFeeds.takenOver(one.shard)
      other.fail(if (areChildren) RealTimeErrors.streamRecreated(one.stream).causedBy(cause) else cause)
    }
  }

  /** Whether a task is reading the shard. */
  def isRead(shard: StreamShard): Boolean = Option(feeds.get(shard)).exists(_.isOpen)

  /** Removes the shards that have had no other task since this one. */
  def forget(feed: LiveFeed): Seq[StreamShard] = {
    val left = feeds.asScala.collect { case (shard, `feed`) => shard }.toVector
    val forgotten = left.filter(feeds.remove(_, feed))
    forgotten.foreach(begun.remove(_))
    forgotten
  }

  /** Ends the tasks that read a shard now. */
  def endAll(): Unit = feeds.values.asScala.foreach(_.end())

  def failAll(cause: Throwable): Unit = feeds.values.asScala.foreach(_.fail(cause))

  override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = {
    val feed = feeds.get(shard)
    // The driver needs the time of the first record only: if the batch does not end, the query began there.
    if (feed == null) reporter.onChunks(shard, epoch, chunks)
    else {
      if (begun.add(shard)) reporter.onChunks(shard, epoch, chunks.take(1))
      feed.tell(shard)
    }
  }

  override def onReadUpTo(
      shard: StreamShard,
      epoch: Long,
      readUpToMillis: Long,
      millisBehindLatest: Long,
      hadRecords: Boolean
  ): Unit =
    reporter.onReadUpTo(shard, epoch, readUpToMillis, millisBehindLatest, hadRecords)

  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = {
    reporter.onShardEnd(shard, epoch, children)
    Option(feeds.get(shard)).foreach(_.tell(shard))
  }

  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = {
    reporter.onFailure(shard, epoch, error)
    Option(feeds.get(shard)).foreach(_.tell(shard))
  }
}

private object LiveFeeds {
  def takenOver(shard: StreamShard): Throwable =
    new IllegalStateException(s"another task of the query reads $shard now")
}
