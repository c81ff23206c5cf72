package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{SequenceNumber, Shard, StreamShard}

/**
 * Records when listings have shown each shard as open. Only that proves that the records of its children arrived later:
 * the service may report a closed shard as read to its tip before it reports its end. Guarded by its owner's lock.
 */
final private[spark] class OpenShardTimes {
  import OpenShardTimes._

  private val open = mutable.HashMap.empty[StreamShard, Opened]

  /**
   * The shards that are known to be closed, with their starting sequence numbers. A closed shard never opens again, but
   * a recreated stream has other shards of the same names.
   */
  private val closed = mutable.HashMap.empty[StreamShard, SequenceNumber]
  private var requiredNanos = Option.empty[Long]
  private var requiredMillis = Map.empty[String, Long]

  /**
   * Records a complete listing of a stream. It may be older than an earlier one or than the reported end of a shard, so
   * it does not open a closed shard again. Nothing is kept of shards that are neither listed nor read.
   *
   * @param isRead
   *   whether a shard is read; a listing may lack it for a while
   */
  def list(stream: String, shards: Seq[Shard], begun: ListingTime, isRead: StreamShard => Boolean): Unit = {
    val listed = shards.iterator.map(one => StreamShard(stream, one.id)).toSet
    def isGone(shard: StreamShard) = shard.stream == stream && !listed(shard) && !isRead(shard)
    open.filterInPlace((shard, _) => !isGone(shard))
    closed.filterInPlace((shard, _) => !isGone(shard))
    shards.foreach { one =>
      val shard = StreamShard(stream, one.id)
      if (!one.isOpen) closed(shard) = one.startingSequenceNumber
      else if (!closed.get(shard).contains(one.startingSequenceNumber)) {
        closed -= shard
        open(shard) = Opened(one.startingSequenceNumber, begun)
      }
    }
  }

  /** Records that a consumer has read a shard to its end. */
  def end(shard: StreamShard): Unit = open.get(shard).foreach(last => closed(shard) = last.start)

  /**
   * Requires for every shard a listing that began at this time or later, in nanoseconds of this process's clock.
   * Returns whether that is a new requirement.
   */
  def require(nanos: Long): Boolean = {
    val isNew = !requiredNanos.contains(nanos)
    requiredNanos = Some(nanos)
    isNew
  }

  /**
   * Requires for the shards of a stream a listing that began at this time of the service or later. Returns whether that
   * is a new requirement.
   */
  def require(stream: String, millis: Long): Boolean = {
    val isNew = requiredMillis.get(stream).forall(_ < millis)
    if (isNew) requiredMillis += stream -> millis
    isNew
  }

  /** Returns whether the shard was open at the required time, so that no record of its children is required. */
  def wasOpen(shard: StreamShard): Boolean =
    requiredNanos.forall(nanos => open.get(shard).exists(_.at.nanos - nanos >= 0))

  /** Returns whether the shard was open at this time of the service. */
  def wasOpenAt(shard: StreamShard, millis: Long): Boolean = open.get(shard).exists(_.at.millis >= millis)

  /** The last time of the service at which the shard is known to have been open, in epoch milliseconds. */
  def lastOpenMillis(shard: StreamShard): Option[Long] = open.get(shard).map(_.at.millis)

  /** Whether [[isUndecided]] can be true for a shard. */
  def hasRequirement: Boolean = requiredNanos.nonEmpty || requiredMillis.nonEmpty

  /** Returns whether only another listing shows if the shard was open at the required time. */
  def isUndecided(shard: StreamShard): Boolean = !closed.contains(shard) &&
    (!wasOpen(shard) || requiredMillis.get(shard.stream).exists(!wasOpenAt(shard, _)))

  /** Removes shards that are not read any more. */
  def remove(gone: Iterable[StreamShard]): Unit = {
    open --= gone
    closed --= gone
  }

  /** The number of shards of which something is kept. */
  def size: Int = (open.keySet ++ closed.keySet).size

  /** Removes streams that are not read any more. */
  def forget(streams: Set[String]): Unit = if (streams.nonEmpty) {
    requiredMillis --= streams
    open.filterInPlace((shard, _) => !streams(shard.stream))
    closed.filterInPlace((shard, _) => !streams(shard.stream))
  }
}

private[spark] object OpenShardTimes {

  /**
   * The time at which a listing began.
   *
   * @param nanos
   *   in nanoseconds of this process's clock
   * @param millis
   *   a time of the service that is not later, in epoch milliseconds
   */
  final case class ListingTime(nanos: Long, millis: Long)

  /** The newest listing that showed a shard with this starting sequence number as open. */
  final private case class Opened(start: SequenceNumber, at: ListingTime)
}
