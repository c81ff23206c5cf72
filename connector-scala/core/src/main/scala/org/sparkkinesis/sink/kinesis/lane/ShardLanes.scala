package org.sparkkinesis.sink.kinesis.lane

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.retry.{RetryPolicy, RetryRules}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.limit.{Lane, PacedLane}

/**
 * The open shards of one stream with a lane for each, shared by all writers to the stream in this JVM. Thread-safe.
 *
 * @param listingPolicy
 *   retry policy of ListShards
 */
final class ShardLanes(
    scheduler: Scheduler,
    listingPolicy: RetryPolicy,
    rules: RetryRules,
    newLane: ShardId => PacedLane
) {

  /** A map with the lane of each of its shards. */
  final private class Known(val map: ShardMap, val lanes: Array[PacedLane])

  @volatile private var known: Option[Known] = None
  @volatile private var unpredictable = false

  val shards: OpenShards = new OpenShards(scheduler, listingPolicy, rules, changed)

  /** Number of open shards; 0 before the first listing. */
  def openShards: Int = known.fold(0)(_.map.size)

  /**
   * Whether the stream has the record distribution strategy AUTO. It selects shards without regard to keys, so the
   * shard of a record cannot be predicted and has no lane.
   */
  def distributesItself: Boolean = unpredictable

  /** Called when a response contradicts a later listing. Returns whether that is new. */
  def foundToDistributeItself(): Boolean = synchronized {
    val isNew = !unpredictable
    unpredictable = true
    isNew
  }

  /** The shards that have a rate now, with the rate as a multiple of the documented one. */
  def paced: Seq[(ShardId, Double)] = known.fold(Seq.empty[(ShardId, Double)]) { now =>
    now.lanes.indices.flatMap { i =>
      val scale = now.lanes(i).currentScale
      Option.when(!scale.isPosInfinity)(now.map.shard(i) -> scale)
    }
  }

  /** The lane of the record's shard. */
  def laneOf(record: SinkRecord): Lane = known match {
    case Some(now) if !unpredictable => now.lanes(record.shardIn(now.map))
    case _ => Lane.Unlimited
  }

  /** Known shards keep their lanes and rates; shards of a recreated stream do not. */
  private def changed(map: ShardMap, isSame: Boolean): Unit = synchronized {
    val kept = known.filter(_ => isSame).fold(Map.empty[ShardId, PacedLane]) { old =>
      (0 until old.map.size).map(i => old.map.shard(i) -> old.lanes(i)).toMap
    }
    if (!isSame) unpredictable = false
    known = Some(new Known(map, Array.tabulate(map.size)(i => kept.getOrElse(map.shard(i), newLane(map.shard(i))))))
  }
}
