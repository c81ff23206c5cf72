package org.sparkkinesis.spark.coordinator

import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.event.ShardsListed
import org.sparkkinesis.model.Shard
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.coordinator.state.{CoordinatorState, StreamGone}

/**
 * Records the listings of the streams, and which streams do not exist any more.
 *
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 * @param streamsMayLeave
 *   whether the query goes on without a stream that does not exist any more
 */
final private[coordinator] class ShardListings(
    state: CoordinatorState,
    latestMillis: () => Long,
    streamsMayLeave: Boolean
) {
  import state.{locked, tracks}

  /** The shards that [[know]] has added, by stream. */
  private var known = Map.empty[String, Seq[Shard]]

  /** When streams were found to be recreated, in nanoseconds of this process's clock. */
  private var forgottenNanos = Map.empty[String, Long]

  /**
   * Returns the streams that a round of discovery has to list: all streams when it is due, else streams with an
   * incomplete or lost lineage.
   */
  def toList(isDue: Boolean): Set[String] = locked {
    if (isDue) state.streams else state.streams -- state.listed ++ state.streamsToList
  }

  /** Records a complete listing of a stream. */
  def list(stream: String, shards: Seq[Shard], begun: ListingTime): Unit = locked {
    // The stream may have been parked while it was listed.
    if (state.streams(stream) && isOfThis(stream, begun)) {
      if (state.graphs(stream).contradicts(shards)) state.doubtful += stream
      // A stream that did not exist has other shards now. Until the query decides how it goes on, those of the deleted
      // one stay known: executors may hold records of them.
      if (!state.missing.contains(stream)) {
        state.openShards.list(stream, shards, begun, tracks.contains)
        listKnown(stream, shards)
      }
    }
  }

  private def listKnown(stream: String, shards: Seq[Shard]): Unit = {
    val (open, closed) = shards.partition(_.isOpen)
    // The first listing is reported as a whole, also the shards that are known from the start of the query.
    val known = if (state.listed(stream)) state.graphs(stream) else ShardGraph.Empty
    val added = shards.map(_.id).filter(known.range(_).isEmpty)
    state.note(ShardsListed(stream, open.size, closed.size, added))
    state.graphs += stream -> state.graphs(stream).withListing(shards)
    state.listed += stream
    state.givenUp.list(stream, shards)
    state.noteChange()
  }

  /** Records that a stream could not be listed. Throws the failure if it ends the query. */
  def notListed(stream: String, failure: KinesisConnectorException, begun: ListingTime): Unit =
    if (streamsMayLeave && ServiceErrors.isStreamNotFound(failure)) locked {
      if (isOfThis(stream, begun)) miss(stream, failure)
    }
    else throw failure

  /** Whether a listing began after the stream was last found to be recreated. */
  private def isOfThis(stream: String, begun: ListingTime): Boolean =
    forgottenNanos.get(stream).forall(begun.nanos - _ >= 0)

  /** Records that a stream does not exist any more; the query decides how it goes on. */
  def miss(stream: String, failure: Throwable): Unit = locked {
    if (state.streams(stream) && !state.missing.contains(stream)) {
      state.missing(stream) = StreamGone(failure, latestMillis(), state.tracksOf(stream))
      state.noteChange()
    }
  }

  /**
   * Adds shards that are known from elsewhere. The stream still has to be listed. The query repeats the same shards at
   * each of its polls.
   */
  def know(stream: String, shards: Seq[Shard]): Unit = locked {
    if (!state.graphs.contains(stream) || !known.get(stream).exists(_ eq shards)) {
      known += stream -> shards
      state.graphs += stream -> state.graphs(stream).withListing(shards)
    }
  }

  /**
   * Returns whether another listing is required, because the last one was older than a child or named only one of its
   * parents, or because the descendants of a shard that was given up are searched for.
   */
  def mustListAgain: Boolean = locked(state.streamsToList.nonEmpty)

  /**
   * Forgets the listings of a stream that was recreated, except the shards that [[know]] has added last. A listing that
   * has begun may still be of the old stream. The caller holds the lock.
   */
  def forget(stream: String): Unit = {
    state.listed -= stream
    state.missing -= stream
    state.graphs += stream -> ShardGraph.of(known.getOrElse(stream, Nil))
    forgottenNanos += stream -> state.clock.nanoTime
  }
}
