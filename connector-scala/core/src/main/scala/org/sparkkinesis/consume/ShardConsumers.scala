package org.sparkkinesis.consume

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.sparkkinesis.chunk.{ChunkBuilder, DecodeSettings}
import org.sparkkinesis.consume.spill.HeldChunk
import org.sparkkinesis.event.{ConsumerMetrics, EventSink, RowsFiltered}
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{SequenceNumber, StartingPosition, StreamShard}

/**
 * The consumers of one source in one JVM. They prefetch their shards within one prefetch buffer until they are stopped.
 *
 * Thread-safe and non-blocking. The creator stops it.
 */
final class ShardConsumers(
    publishers: RecordPublisherFactory,
    val buffer: PrefetchBuffer,
    decode: DecodeSettings,
    listener: ProgressListener,
    val metrics: ConsumerMetrics,
    events: EventSink = EventSink.Discard
) {
  private val consumers = new ConcurrentHashMap[StreamShard, ShardConsumer]

  /**
   * Starts reading a shard. If the shard is already read under an older epoch, and the records after `position` are
   * held or are fetched next, its consumer continues; a snapshot shows what it holds. Otherwise a new consumer starts.
   * A call with an older epoch has no effect.
   *
   * @param hashKeyRange
   *   hash key range of the shard; required only by the hash range filter
   * @param creationMillis
   *   creation time of the stream, in epoch milliseconds. If it changes, a new consumer starts, because a recreated
   *   stream has other shards of the same names.
   */
  def start(
      shard: StreamShard,
      position: StartingPosition,
      epoch: Long,
      hashKeyRange: Option[HashKeyRange] = None,
      creationMillis: Long = 0
  ): Unit = {
    def continues(present: ShardConsumer) =
      present.epoch >= epoch || (present.creationMillis == creationMillis && present.adopt(position, epoch))
    var stale: Option[ShardConsumer] = None
    var fresh: Option[ShardConsumer] = None
    consumers.compute(
      shard,
      (_, present) =>
        if (present != null && continues(present)) present
        else {
          val chunks =
            new ChunkBuilder(decode, hashKeyRange, metrics, rows => events.emit(RowsFiltered(shard, rows)))
          val consumer = new ShardConsumer(shard, creationMillis, position, epoch, publishers, chunks, buffer, listener)
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

  /** Releases all records at or before `upTo`. A consumer that has not reached `upTo` skips to it. */
  def release(shard: StreamShard, upTo: SequenceNumber): Unit = Option(consumers.get(shard)).foreach(_.release(upTo))

  /**
   * Returns exactly the records in `(after, end]`, or `None` if memory and the local files do not hold all of them.
   * Nothing is removed.
   *
   * @param creationMillis
   *   creation time of the stream, as in [[start]]
   */
  def read(
      shard: StreamShard,
      after: StartingPosition,
      end: SequenceNumber,
      creationMillis: Long = 0
  ): Option[IndexedSeq[HeldChunk]] =
    Option(consumers.get(shard)).filter(_.creationMillis == creationMillis).flatMap(_.read(after, end))

  /** Returns the first held records at or after `from`, or `None` if the shard is not read. Nothing is removed. */
  def head(shard: StreamShard, from: StartingPosition): Option[ShardHead] =
    Option(consumers.get(shard)).map(_.head(from))

  /**
   * Returns the epoch under which the consumer of a shard started that has this epoch now; `None` if there is none. A
   * consumer that continues under a newer epoch keeps what it has fetched.
   */
  def startEpoch(shard: StreamShard, epoch: Long): Option[Long] =
    Option(consumers.get(shard)).filter(_.epoch == epoch).map(_.startEpoch)

  def shards: Set[StreamShard] = consumers.keySet.asScala.toSet

  /** The number of shards. */
  def size: Int = consumers.size

  def snapshot(shard: StreamShard): Option[ShardSnapshot] = Option(consumers.get(shard)).map(_.snapshot)

  /** Returns the snapshots of all shards. They are not taken at the same moment. */
  def snapshot(): IndexedSeq[ShardSnapshot] = consumers.values.asScala.iterator.map(_.snapshot).toVector
}
