package org.sparkkinesis.sink.kinesis.lane

import org.sparkkinesis.concurrent.Scheduler
import org.sparkkinesis.model.{HashPoint, ShardId}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.limit.{Lane, PacedLane}

/** One stream's open shards with a lane for each, shared by all writers to the stream in this JVM. Thread-safe. */
final class ShardLanes(scheduler: Scheduler, newLane: ShardId => PacedLane) {

  /** A map with the lane of each of its shards. */
  final private class Known(val map: ShardMap, val lanes: Array[PacedLane])

  @volatile private var known: Option[Known] = None
  @volatile private var unpredictable = false

  val shards: OpenShards = new OpenShards(scheduler, changed)

  /** Open shards; zero while no listing was made. */
  def openShards: Int = known.fold(0)(_.map.size)

  /**
   * Whether the stream has record distribution strategy AUTO: it chooses shards without regard to keys, so there is no telling
   * where a record will go, and no lane for it.
   */
  def distributesItself: Boolean = unpredictable

  /** To be told when a listing that was made after an answer is refuted by it. Returns whether that is new. */
  def foundToDistributeItself(): Boolean = synchronized {
    val isNew = !unpredictable
    unpredictable = true
    isNew
  }

  /** The lane of the shard that a record of this hash key will go to. */
  def laneOf(point: => HashPoint): Lane = known match {
    case Some(now) if !unpredictable => now.lanes(now.map.indexOf(point))
    case _ => Lane.Unlimited
  }

  /** Shards that were known keep their lanes, with what these have learned; those of another stream of the same name do not. */
  private def changed(map: ShardMap, isSame: Boolean): Unit = synchronized {
    val kept = known.filter(_ => isSame).fold(Map.empty[ShardId, PacedLane]) { old =>
      (0 until old.map.size).map(i => old.map.shard(i) -> old.lanes(i)).toMap
    }
    if (!isSame) unpredictable = false
    known = Some(new Known(map, Array.tabulate(map.size)(i => kept.getOrElse(map.shard(i), newLane(map.shard(i))))))
  }
}
