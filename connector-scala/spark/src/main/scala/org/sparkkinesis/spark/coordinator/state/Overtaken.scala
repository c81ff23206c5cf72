package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{KinesisQuotas, StreamShard}
import org.sparkkinesis.plan.offset.Retention
import org.sparkkinesis.spark.protocol.ShardReport

/**
 * A shard that was behind when newer records of it were fetched. Records in between may have expired.
 *
 * @param untilMillis
 *   the time up to which it had been read, in epoch milliseconds
 * @param behindMillis
 *   how long ago that was
 */
final case class Overtaken(shard: StreamShard, untilMillis: Long, behindMillis: Long) {

  /** Whether the shortest retention period would have lost records. */
  def exceedsShortestRetention: Boolean = behindMillis > KinesisQuotas.Lifetime.RetentionMin.toMillis
}

/** Shards that were behind, each as it was when it was furthest behind. Not thread-safe. */
final private[spark] class OvertakenShards {
  private val furthest = mutable.LinkedHashMap.empty[StreamShard, Overtaken]

  def all: Vector[Overtaken] = furthest.values.toVector

  def add(late: Overtaken): Unit =
    if (furthest.get(late.shard).forall(_.behindMillis < late.behindMillis)) furthest(late.shard) = late

  def remove(shard: StreamShard): Unit = furthest -= shard

  /** Returns and removes all shards. */
  def take(): Vector[Overtaken] = {
    val taken = all
    furthest.clear()
    taken
  }
}

/**
 * The service's current time, by this process's estimate or the newest record. The estimate is too early if the machine
 * was suspended and its clock is set only later. Not thread-safe.
 *
 * @param estimate
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time
 */
final private[spark] class LatestTime(estimate: () => Long) {
  private var newestMillis = 0L

  /** Returns a time, in epoch milliseconds, that is not earlier than the service's time when a report was sent. */
  def at(told: ShardReport): Long = {
    newestMillis = math.max(newestMillis, told.chunks.lastOption.fold(0L)(_.newestArrivalMillis))
    math.max(newestMillis, estimate())
  }
}

/**
 * Times that batches of this run gave to shards without an answer: the oldest time that their records could have then.
 * Records that expire before the first answer count as lost only if this answer takes longer than
 * `Retention.FirstFetch`, because a query that starts at the oldest record starts at the oldest one that it fetches.
 * Not thread-safe.
 */
final private[coordinator] class GivenTimes {
  private var times = Map.empty[String, Set[Long]]

  /** Records the time that shards of a stream were given, in epoch milliseconds. */
  def note(stream: String, millis: Long): Unit = times += stream -> (times.getOrElse(stream, Set.empty) + millis)

  /** Returns a time in epoch milliseconds from which on an unread record of a shard counts as lost when it expires. */
  def unreadSince(stream: String, since: Long): Long =
    if (times.get(stream).exists(_(since))) since + Retention.FirstFetch.toMillis else since

  def forget(streams: Set[String]): Unit = times --= streams
}
