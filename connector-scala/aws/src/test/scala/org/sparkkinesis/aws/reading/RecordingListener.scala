package org.sparkkinesis.aws.reading

import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{ConcurrentHashMap, LinkedBlockingQueue, TimeUnit}

import scala.collection.mutable

import org.sparkkinesis.chunk.{Chunk, ChunkSummary}
import org.sparkkinesis.consume.ProgressListener
import org.sparkkinesis.consume.spill.HeldChunk
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.service.ServiceException

/** Records the progress of consumers, and lets a test wait for a condition. */
final class RecordingListener extends ProgressListener {
  private val signals = new LinkedBlockingQueue[AnyRef]
  val chunks = new ConcurrentHashMap[StreamShard, Vector[ChunkSummary]]
  val ends = new ConcurrentHashMap[StreamShard, Seq[ChildShard]]
  val failures = new ConcurrentHashMap[StreamShard, ServiceException]
  val totalRows = new AtomicLong
  val readUpTo = new ConcurrentHashMap[StreamShard, Long]

  override def onChunks(shard: StreamShard, epoch: Long, added: Seq[ChunkSummary]): Unit = {
    chunks.merge(shard, added.toVector, (a, b) => a ++ b)
    totalRows.addAndGet(added.iterator.map(_.rows.toLong).sum)
    signal()
  }
  override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit = {
    readUpTo.put(shard, millis)
    signal()
  }
  override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = {
    ends.put(shard, children)
    signal()
  }
  override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = {
    failures.put(shard, error)
    signal()
  }

  def rows(shard: StreamShard): Int = chunks.getOrDefault(shard, Vector.empty).map(_.rows).sum

  /** Fails with `state` if the condition does not become true in time, or immediately if a shard failed. */
  def awaitUntil(state: => String, seconds: Long = 60)(condition: => Boolean): Unit = {
    val deadline = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds)
    while (!condition) {
      if (!failures.isEmpty) throw new AssertionError(s"failed: $failures")
      val left = deadline - System.nanoTime
      if (left <= 0) throw new AssertionError(s"not within $seconds s: $state")
      signals.poll(left, TimeUnit.NANOSECONDS)
    }
  }

  private def signal(): Unit = {
    signals.offer(this)
    ()
  }
}

object Rows {

  /** Returns the payloads of chunks as text. */
  def texts(chunks: Iterable[Chunk]): Seq[String] = {
    val found = mutable.ArrayBuffer.empty[String]
    chunks.foreach(chunk => (0 until chunk.rows).foreach(row => found += new String(chunk.data(row), "UTF-8")))
    found.toSeq
  }

  /** Returns the payloads of chunks that consumers hold as text. */
  def held(chunks: Iterable[HeldChunk]): Seq[String] = texts(chunks.flatMap(_.load()))
}
