package org.sparkkinesis.spark.coordinator

import java.util.concurrent.TimeUnit

import org.sparkkinesis.event.{
  ConnectorEvent,
  ExecutorJoined,
  ExecutorLost,
  ShardFinished,
  ShardsAssigned,
  ShardsMoved,
  StreamUnreachable
}
import org.sparkkinesis.metric.Sums
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.spark.coordinator.state.{ConsumerPeer, CoordinatorState, ShardTrack, WantedShards}
import org.sparkkinesis.spark.protocol.{Assign, Assigned, Register, ServiceTime, Unassign}

/**
 * Assigns an owner to each shard that must be read, and takes shards from lost executors.
 *
 * @param graceMillis
 *   maximum time, in milliseconds, that the first executor waits for others
 * @param serviceMillis
 *   returns a time, in epoch milliseconds, that is not later than the service's current time
 */
final private[coordinator] class ShardPlacement(
    state: CoordinatorState,
    graceMillis: Long,
    serviceMillis: () => Long
) {
  import state.{locked, peers, tracks}

  /** The clock's nanoseconds when the first executor registered. */
  private var firstCame = 0L

  /**
   * Registers an executor's consumers; registering them again has no effect. Returns whether the query has ended and
   * the consumers must stop.
   */
  def introduce(introduction: Register, peer: => ConsumerPeer): Boolean = locked {
    val isKnown = peers.get(introduction.executorId).exists { known =>
      known.instance == introduction.instance && known.address == peer.address
    }
    if (!state.isClosed && !isKnown) {
      forget(introduction.executorId)
      if (peers.isEmpty) firstCame = state.clock.nanoTime
      peers(introduction.executorId) = peer
      state.note(ExecutorJoined(introduction.executorId, introduction.host))
    }
    state.isClosed
  }

  /**
   * Removes an executor, whose shards lose their owner. Returns whether it was registered, and whether other
   * executors are.
   */
  def lose(executorId: String): (Boolean, Boolean) = locked((forget(executorId), peers.nonEmpty))

  /** Returns whether this instance of the executor's consumers is the registered one. */
  def isThere(executorId: String, instance: Long): Boolean =
    locked(peers.get(executorId).exists(_.instance == instance))

  def isKnown(executorId: String): Boolean = locked(peers.contains(executorId))

  /** Returns the executors that registered from this address. */
  def at(address: String): Seq[String] =
    locked(peers.valuesIterator.filter(_.address == address).map(_.id).toVector)

  /** Returns whether some shard has an owner. */
  def isBegun: Boolean = locked(tracks.valuesIterator.exists(_.owner.nonEmpty))

  /**
   * Returns how many milliseconds to wait for executors that Spark knows but that have not registered, as long as no
   * shard has an owner. Otherwise the first executor would get every shard and then hand most of them over, and a
   * subscription that is taken over pauses for seconds.
   */
  def graceLeftMillis(known: Seq[String]): Long = locked {
    val isFirst = peers.nonEmpty && !isBegun
    val left = graceMillis - TimeUnit.NANOSECONDS.toMillis(state.clock.nanoTime - firstCame)
    if (isFirst && left > 0 && !known.forall(peers.contains)) left else 0
  }

  /**
   * Runs one round: assigns an owner to every shard that must be read. Returns true if more shards have to move in
   * another round.
   */
  def assign(): Boolean = locked {
    !state.isClosed && peers.nonEmpty && {
      // Shards of an unlisted stream wait, because their hash key ranges are unknown.
      val shards = state.wanted().filter { case (shard, _) =>
        state.listed(shard.stream) && !state.lacksRange(shard) &&
        !tracks.get(shard).exists(_.ended)
      }
      val positions = shards.toMap
      val current = tracks.valuesIterator.flatMap(track => track.owner.map(track.shard -> _)).toMap
      val near = (shard: StreamShard) =>
        state.graphs(shard.stream).parents(shard.shard).flatMap(parent =>
          current.get(StreamShard(shard.stream, parent))
        ).headOption
      avoidUnreachable(current)
      val placed =
        Placement.place(shards.map(_._1), peers.keys.toVector, current, near, state.unreachable.avoided(_))
      val news = placed.toVector.filter { case (shard, owner) => !current.get(shard).contains(owner) }
      val moved = news.flatMap { case (shard, _) => current.get(shard).map(_ -> shard) }
      moved.groupMap(_._1)(_._2).foreach { case (from, left) => peers.get(from).foreach(_.tell(Unassign(left))) }
      news.groupMap(_._2)(_._1).foreach { case (owner, ofOwner) =>
        val assigned = ofOwner.flatMap { shard =>
          positions(shard).resumeAt.map { at =>
            val track = tracks.getOrElseUpdate(shard, new ShardTrack(shard, state.bounds, state.unreadSince(shard)))
            state.epoch += 1
            track.assign(owner, state.epoch, positions(shard))
            val creation = state.position.streams(shard.stream).creationMillis
            Assigned(shard, at, track.epoch, state.graphs(shard.stream).range(shard.shard), creation)
          }
        }
        val connections = assigned.map(_.shard.stream).distinct.flatMap(arn => state.connections.get(arn).map(arn -> _))
        peers(owner).tell(Assign(assigned, serviceMillis(), connections))
        note(owner, assigned, current)
      }
      retire()
      moved.size >= Placement.movesAtOnce(shards.size)
    }
  }

  /** Tells the executors the service's time: what they know is too early after their machine was suspended. */
  def tellTime(): Unit = locked(peers.valuesIterator.foreach(_.tell(ServiceTime(serviceMillis()))))

  /** Excludes executors from the streams that they report as unreachable while another executor may reach them. */
  private def avoidUnreachable(current: Map[StreamShard, String]): Unit = {
    val reported = peers.view.mapValues(_.unreachable).toMap
    if (reported.values.exists(_.nonEmpty)) {
      val owned = current.toVector.groupMapReduce { case (shard, owner) => (owner, shard.stream) }(_ => 1)(_ + _)
      state.unreachable.avoid(reported, owned.keySet).foreach { case (executor, stream) =>
        state.note(StreamUnreachable(executor, stream, owned((executor, stream))))
      }
    }
  }

  private def note(owner: String, assigned: Seq[Assigned], before: Map[StreamShard, String]): Unit =
    assigned.groupBy(one => (one.shard.stream, before.get(one.shard))).foreach { case ((stream, from), ofStream) =>
      val shards = ofStream.map(one => one.shard.shard -> one.position).sortBy(_._1)
      state.note(from.fold[ConnectorEvent](ShardsAssigned(
        stream,
        owner,
        shards
      ))(ShardsMoved(stream, _, owner, shards)))
    }

  /**
   * Stops the consumers of shards that have left the offset, and of those whose parents must be read again. What is
   * known of the latter stays: records of them may have been fetched that the service does not have any more.
   */
  private def retire(): Unit = {
    val keep = state.wanted().iterator.map(_._1).toSet
    def isPending(shard: StreamShard) = WantedShards.isPending(state.position, state.graphs, shard)
    val (later, gone) = tracks.keysIterator.filterNot { shard =>
      keep(shard) ||
      (state.streams(shard.stream) && state.position.streams.get(shard.stream).exists(_.shards.contains(shard.shard)))
    }.toVector.partition(shard => state.streams(shard.stream) && isPending(shard))
    val owned = later.map(tracks).filter(_.owner.nonEmpty)
    state.unassign(owned)
    owned.foreach(state.lose)
    state.givenUp.remove(gone)
    state.openShards.remove(gone)
    gone.foreach(shard => if (state.streams(shard.stream)) state.note(ShardFinished(shard.stream, shard.shard)))
    state.unassign(gone.flatMap(tracks.remove))
  }

  private def forget(executorId: String): Boolean = {
    val gone = peers.remove(executorId)
    state.unreachable.forget(executorId)
    gone.foreach(peer =>
      state.lostMetrics = Sums.of(state.lostMetrics, peer.metrics - "bufferedBytes")(_ + _)
    )
    val left = tracks.valuesIterator.filter(_.owner.contains(executorId)).toVector
    left.foreach(state.lose)
    if (gone.nonEmpty) state.note(ExecutorLost(executorId, left.size))
    gone.nonEmpty
  }
}
