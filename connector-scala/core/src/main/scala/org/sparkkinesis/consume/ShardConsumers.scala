package org.sparkkinesis.consume

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder, DecodeSettings}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{HashKeyRange, SequenceNumber, StartingPosition, StreamShard}

/**
 * The consumers of one source in one JVM: they read their shards ahead, within one prefetch buffer, until they are stopped.
 *
 * Thread-safe; no call blocks. The one who made it stops it.
 */
final class ShardConsumers(
    publishers: RecordPublisherFactory,
    val buffer: PrefetchBuffer,
    decode: DecodeSettings,
    listener: ProgressListener,
    val metrics: ConsumerMetrics
) {
  private val consumers = new ConcurrentHashMap[StreamShard, ShardConsumer]

  /**
   * Begins to read a shard. When it is being read already, under an older epoch, and what is wanted is held or comes
   * next, its consumer goes on (a snapshot tells what it holds); else it is started anew. An epoch older than the present one changes nothing.
   *
   * @param hashKeyRange
   *   the shard's own; needed only by the hash range filter
   */
  def start(
      shard: StreamShard,
      position: StartingPosition,
      epoch: Long,
      hashKeyRange: Option[HashKeyRange] = None
  ): Unit = {
    var stale: Option[ShardConsumer] = None
    var fresh: Option[ShardConsumer] = None
    consumers.compute(
      shard,
      (_, present) =>
        if (present != null && (present.epoch >= epoch || present.adopt(position, epoch))) present
        else {
          val chunks = new ChunkBuilder(decode, hashKeyRange, metrics)
          val consumer = new ShardConsumer(shard, position, epoch, publishers, chunks, buffer, listener)
          stale = Option(present)
          fresh = Some(consumer)
          consumer
        }
    )
    stale.foreach(_.stop())
    fresh.foreach(_.begin())
  }

  def stop(shard: StreamShard): Unit = Option(consumers.remove(shard)).foreach(_.stop())

  def stopAll(): Unit = consumers.keySet.asScala.foreach(stop)

  /** Drops what lies at or before `upTo`; a consumer that is still before it skips forward. */
  def release(shard: StreamShard, upTo: SequenceNumber): Unit = Option(consumers.get(shard)).foreach(_.release(upTo))

  /** Exactly the records in `(after, end]`, or `None` when memory does not hold all of them. Nothing is removed. */
  def read(shard: StreamShard, after: StartingPosition, end: SequenceNumber): Option[IndexedSeq[Chunk]] =
    Option(consumers.get(shard)).flatMap(_.read(after, end))

  def shards: Set[StreamShard] = consumers.keySet.asScala.toSet

  def snapshot(shard: StreamShard): Option[ShardSnapshot] = Option(consumers.get(shard)).map(_.snapshot)

  /** Everything that is held, shard by shard; not one moment for all of them. */
  def snapshot(): IndexedSeq[ShardSnapshot] = consumers.values.asScala.iterator.map(_.snapshot).toVector
}
