package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.plan.AvailableNowTarget
import org.sparkkinesis.spark.coordinator.state.{CoordinatorState, ShardTrack}

/**
 * Answers whether the records that arrived up to a time are fetched and planned. For the query's thread.
 *
 * @param list
 *   starts a listing of the streams that must be listed
 */
final class TargetProgress private[coordinator] (state: CoordinatorState, list: () => Unit) {
  import state.{locked, tracks}

  /**
   * Requires that [[isReached]] and [[everythingIsFetched]] count a shard only if it was open at this time, or is read
   * to its end. The children of a shard that was closed before may have records of the target.
   *
   * @param nanos
   *   the time of the target, in nanoseconds of this process's clock
   */
  def requireOpenShards(nanos: Long): Unit = if (locked(state.openShards.require(nanos))) list()

  /** Returns whether every record of the target has been planned. Call it when there is nothing to plan. */
  def isReached(target: AvailableNowTarget): Boolean = ofEveryShard { track =>
    state.heldBack(track.shard.stream) || (isPlanned(track, target) && hasNoChildrenIn(target, track))
  }

  /**
   * Returns whether a stream has no more records: every record of the target has been planned, and no later one is
   * fetched. The answers may be those of a recreated stream without records; see [[PrefetchView.requireProof]].
   */
  def isDrained(stream: String, target: AvailableNowTarget): Boolean = {
    val (isOver, isNew) = locked {
      val left = state.wanted().iterator.map(_._1).filter(_.stream == stream).toVector
      val isPlannedToEnd = state.listed(stream) && left.forall(tracks.get(_).exists(track =>
        track.chunks.isEmpty && isPlanned(track, target)
      ))
      // A closed shard may be read to its tip before its end is reported, and its children are not known.
      val isNew = isPlannedToEnd && state.openShards.require(stream, target.millis)
      val areOpen = left.forall(shard =>
        tracks.get(shard).exists(track =>
          track.ended || (state.openShards.wasOpenAt(shard, target.millis) && track.openUpToMillis >= target.millis)
        )
      )
      val isProven = !state.tracksOf(stream).exists(_.isUnproven)
      (isPlannedToEnd && areOpen && isProven && !state.streamsToList(stream), isNew)
    }
    if (isNew) list()
    isOver
  }

  private def isPlanned(track: ShardTrack, target: AvailableNowTarget): Boolean = {
    // After a lost report, earlier chunks than the reported ones may exist.
    val chunks = if (state.lacksNews(track)) Vector.empty else track.chunks.toVector
    target.isReached(chunks, track.readUpToMillis, track.ended) && target.within(track.chunks.toVector).isEmpty
  }

  /**
   * Returns whether the consumers have fetched every record of the target in every shard. Some of these records may
   * not be planned yet.
   */
  def everythingIsFetched(target: AvailableNowTarget): Boolean =
    ofEveryShard(track => isFetched(track, target) && hasNoChildrenIn(target, track))

  /**
   * Returns whether every shard was read to its tip since this run of the query started, or has records that arrived
   * after the target.
   */
  def everyTipIsReached(target: AvailableNowTarget): Boolean = ofEveryShard { track =>
    isFetched(track, target) ||
    (!state.lacksNews(track) && track.readUpToMillis > 0 && track.millisBehindLatest.contains(0L))
  }

  private def ofEveryShard(condition: ShardTrack => Boolean): Boolean = locked {
    state.throwFailure()
    state.streams.forall(stream => state.listed(stream) || state.missing.contains(stream)) &&
    (state.streamsToList -- state.missing.keySet).isEmpty && !tracks.valuesIterator.exists(_.isUnproven) &&
    state.wanted().forall { case (shard, _) =>
      state.missing.contains(shard.stream) || tracks.get(shard).exists(condition)
    }
  }

  private def isFetched(track: ShardTrack, target: AvailableNowTarget): Boolean =
    track.ended || track.readUpToMillis >= target.millis ||
      (!state.lacksNews(track) && track.chunks.exists(_.firstArrivalMillis > target.millis))

  /**
   * Returns whether every record of the shard's children arrived after the target, or the children are known. A listing
   * may be out of date, and an answer with the last records of a closed shard need not report its end. So a listing and
   * the consumer must both show the shard as open.
   */
  private def hasNoChildrenIn(target: AvailableNowTarget, track: ShardTrack): Boolean =
    track.ended || track.chunks.exists(_.firstArrivalMillis > target.millis) ||
      (state.openShards.wasOpen(track.shard) && track.openUpToMillis >= target.millis)
}
