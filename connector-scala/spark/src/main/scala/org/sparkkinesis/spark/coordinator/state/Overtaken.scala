package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.model.{KinesisQuotas, StreamShard}

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
