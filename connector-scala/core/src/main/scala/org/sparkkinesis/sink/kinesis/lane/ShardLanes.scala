package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicReference

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.event.{DistributionAutomatic, EventSink, ShardMapNotRefreshed, ShardMapRefreshed}
import org.sparkkinesis.model.{HashPoint, Shard, ShardId, StreamRef}
import org.sparkkinesis.service.{KinesisService, ShardFilter}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.limit.{Lane, PacedLane}

/**
 * One stream's shard map with a lane for each shard, shared by all writers to the stream in this JVM. Thread-safe.
 *
 * The map is listed when the first writer needs it, and again when the service put a record into another shard than the
 * map says: the only sign of a reshard, and a sure one.
 */
final class ShardLanes(newLane: ShardId => PacedLane) {

  /** A map with the lane of each of its shards. */
  final private class Known(val map: ShardMap, val lanes: Array[PacedLane])

  @volatile private var unpredictable = false
  private val known = new AtomicReference[Option[Known]](None)
  private val listing = new AtomicReference[CompletableFuture[ShardMap]]

  def map: Option[ShardMap] = known.get.map(_.map)

  /** Open shards; zero while no listing was made. */
  def openShards: Int = map.fold(0)(_.size)

  /**
   * The stream has record distribution strategy AUTO: it chooses shards without regard to keys, so there is no telling where a
   * record will go, and no lane for it.
   */
  def distributesItself: Boolean = unpredictable

  /** To be told when an answer has proved it, see [[ShardMap.isRefutedBy]]. */
  def foundToDistributeItself(stream: StreamRef, events: EventSink): Unit = if (!unpredictable) {
    unpredictable = true
    events.emit(DistributionAutomatic(stream.toString))
  }

  /** The lane of the shard that a record of this hash key will go to. */
  def laneOf(point: => HashPoint): Lane = known.get match {
    case Some(now) if !unpredictable => now.lanes(now.map.indexOf(point))
    case _ => Lane.Unlimited
  }

  /** Lists the shards anew; calls that come while one is under way share its answer. */
  def refresh(service: KinesisService, stream: StreamRef, events: EventSink): CompletableFuture[ShardMap] = {
    val mine = new CompletableFuture[ShardMap]
    val shared = listing.updateAndGet(running => if (running == null || running.isDone) mine else running)
    if (shared eq mine) list(service, stream, events, None, Vector.empty, mine)
    shared
  }

  private def list(
      service: KinesisService,
      stream: StreamRef,
      events: EventSink,
      next: Option[String],
      before: Vector[Shard],
      result: CompletableFuture[ShardMap]
  ): Unit = {
    service.listShards(stream, ShardFilter.AtLatest, next).whenComplete { (page, error) =>
      if (error != null) {
        events.emit(ShardMapNotRefreshed(stream.toString, String.valueOf(Futures.unwrap(error).getMessage)))
        result.completeExceptionally(error)
      } else {
        val shards = before ++ page.shards
        if (page.next.isDefined) list(service, stream, events, page.next, shards, result)
        else
          ShardMap.of(shards) match {
            case Some(map) =>
              val replaced = known.getAndUpdate(before => Some(withLanes(map, before)))
              note(stream, events, replaced.map(_.map), map)
              result.complete(map)
            case None => result.completeExceptionally(new IllegalStateException(s"stream $stream lists no open shard"))
          }
      }
      ()
    }
    ()
  }

  /** A listing that finds the same shards is no news. */
  private def note(stream: StreamRef, events: EventSink, before: Option[ShardMap], now: ShardMap): Unit = {
    def shards(map: ShardMap): Set[ShardId] = (0 until map.size).map(map.shard).toSet
    if (!before.map(shards).contains(shards(now)))
      events.emit(ShardMapRefreshed(stream.toString, now.size, isFirst = before.isEmpty))
  }

  /** Shards that were known keep their lanes, with what these have learned. */
  private def withLanes(map: ShardMap, before: Option[Known]): Known = {
    val kept = before.fold(Map.empty[ShardId, PacedLane]) { old =>
      (0 until old.map.size).map(i => old.map.shard(i) -> old.lanes(i)).toMap
    }
    new Known(map, Array.tabulate(map.size)(i => kept.getOrElse(map.shard(i), newLane(map.shard(i)))))
  }
}
