package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{Shard, StreamShard}

/**
 * Records when listings have shown each shard as open. Only that proves that the records of its children arrived later:
 * the service may report a closed shard as read to its tip before it reports its end. Guarded by its owner's lock.
 */
final private[coordinator] class OpenShardTimes {
  import OpenShardTimes._

  private val open = mutable.HashMap.empty[StreamShard, ListingTime]

  /** The shards that the newest listing of their stream shows as closed. */
  private val closed = mutable.HashSet.empty[StreamShard]
  private var requiredNanos = Option.empty[Long]
  private var requiredMillis = Map.empty[String, Long]

  /** Records a complete listing of a stream. */
  def list(stream: String, shards: Seq[Shard], begun: ListingTime): Unit = shards.foreach { listed =>
    val shard = StreamShard(stream, listed.id)
    if (listed.isOpen) {
      open(shard) = begun
      closed -= shard
    } else closed += shard
  }

  /** Requires for every shard a listing that began at this time or later, in nanoseconds of this process's clock. */
  def require(nanos: Long): Unit = requiredNanos = Some(nanos)

  /**
   * Requires for the shards of a stream a listing that began at this time of the service or later. Returns whether that
   * is a new requirement.
   */
  def require(stream: String, millis: Long): Boolean = {
    val isNew = requiredMillis.get(stream).forall(_ < millis)
    if (isNew) requiredMillis += stream -> millis
    isNew
  }

  def isRequired(nanos: Long): Boolean = requiredNanos.contains(nanos)

  /** Returns whether the shard was open at the required time, so that no record of its children is required. */
  def wasOpen(shard: StreamShard): Boolean = requiredNanos.forall(nanos => open.get(shard).exists(_.nanos - nanos >= 0))

  /** Returns whether the shard was open at this time of the service. */
  def wasOpenAt(shard: StreamShard, millis: Long): Boolean = open.get(shard).exists(_.millis >= millis)

  /** The last time of the service at which the shard is known to have been open, in epoch milliseconds. */
  def lastOpenMillis(shard: StreamShard): Option[Long] = open.get(shard).map(_.millis)

  /** Whether [[isUndecided]] can be true for a shard. */
  def hasRequirement: Boolean = requiredNanos.nonEmpty || requiredMillis.nonEmpty

  /** Returns whether only another listing shows if the shard was open at the required time. */
  def isUndecided(shard: StreamShard): Boolean = !closed(shard) &&
    (!wasOpen(shard) || requiredMillis.get(shard.stream).exists(!wasOpenAt(shard, _)))

  /** Removes shards that are not read any more. */
  def remove(gone: Iterable[StreamShard]): Unit = {
    open --= gone
    closed --= gone
  }

  /** Removes streams that are not read any more. */
  def forget(streams: Set[String]): Unit = if (streams.nonEmpty) {
    requiredMillis --= streams
    open.filterInPlace((shard, _) => !streams(shard.stream))
    closed.filterInPlace(shard => !streams(shard.stream))
  }
}

private[coordinator] object OpenShardTimes {

  /**
   * The time at which a listing began.
   *
   * @param nanos
   *   in nanoseconds of this process's clock
   * @param millis
   *   a time of the service that is not later, in epoch milliseconds
   */
  final case class ListingTime(nanos: Long, millis: Long)
}
