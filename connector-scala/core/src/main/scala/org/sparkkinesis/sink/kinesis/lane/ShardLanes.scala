package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicReference

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.event.{
  DistributionAutomatic, EventSink, ListingIncomplete, ShardMapNotRefreshed, ShardMapRefreshed
}
import org.sparkkinesis.model.{HashPoint, ShardId, StreamRef}
import org.sparkkinesis.service.ShardFilter
import org.sparkkinesis.shard.{ShardLister, ShardListing, ShardMap}
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
  def refresh(lister: ShardLister, stream: StreamRef, events: EventSink): CompletableFuture[ShardMap] = {
    val mine = new CompletableFuture[ShardMap]
    val shared = listing.updateAndGet(running => if (running == null || running.isDone) mine else running)
    if (shared eq mine)
      lister.complete(stream, ShardFilter.AtLatest).whenComplete { (found, failure) =>
        if (failure != null) {
          events.emit(ShardMapNotRefreshed(stream.toString, String.valueOf(Futures.unwrap(failure).getMessage)))
          mine.completeExceptionally(Futures.unwrap(failure))
        } else learn(stream, events, found, mine)
        ()
      }
    shared
  }

  /** A map that lacks a shard is of use all the same: the shard beside it stands for the missing one. */
  private def learn(
      stream: StreamRef,
      events: EventSink,
      found: ShardListing,
      result: CompletableFuture[ShardMap]
  ): Unit = {
    found.gap.foreach(gap =>
      events.emit(ListingIncomplete(stream.toString, gap.start, gap.end, ShardLister.Listings))
    )
    ShardMap.of(found.shards) match {
      case Some(map) =>
        val replaced = known.getAndUpdate(before => Some(withLanes(map, before)))
        note(stream, events, replaced.map(_.map), map)
        result.complete(map)
      case None => result.completeExceptionally(new IllegalStateException(s"stream $stream lists no open shard"))
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
