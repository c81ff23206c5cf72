package org.sparkkinesis.spark.coordinator

import java.util.concurrent.CompletableFuture

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{BlockingWait, Clock, SystemClock, Waiting}
import org.sparkkinesis.event.{ConnectorEvent, EventSink}
import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.plan.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph

/**
 * What the coordinator of one running source knows. Its parts use everything here within [[locked]] only, which they hold for
 * microseconds; messages to executors are handed to the RPC there too, so that they leave in the order of the changes that they tell.
 *
 * @param streams
 *   ARNs
 * @param events
 *   receives what was noted, in its order, without the lock held
 */
final private[coordinator] class CoordinatorState(
    val streams: Seq[String],
    val clock: Clock = SystemClock,
    waiting: Waiting = BlockingWait,
    events: EventSink = EventSink.Discard
) {
  private val lock = new Object
  private val telling = new Object
  private val noted = mutable.ArrayBuffer.empty[ConnectorEvent]
  @volatile private var hasNoted = false

  /** Completed with the next change, and then replaced. */
  private var change = new CompletableFuture[Unit]
  private var failure: Option[Throwable] = None
  private var closed = false
  private var changeCount = 0L

  /** Executors whose consumers have introduced themselves, by id. */
  val peers: mutable.LinkedHashMap[String, ConsumerPeer] = mutable.LinkedHashMap.empty
  val tracks: mutable.HashMap[StreamShard, ShardTrack] = mutable.HashMap.empty
  var graphs: Map[String, ShardGraph] = streams.map(_ -> ShardGraph.Empty).toMap

  /** Streams whose shards were listed once. */
  var listed: Set[String] = Set.empty

  /** Where planning has got to. */
  var position: SourceOffset = SourceOffset(SortedMap.empty[String, StreamOffset])

  /** Of the newest assignment of any shard. */
  var epoch = 0L

  /** Counters of executors that are lost. */
  var lostMetrics: Map[String, Long] = Map.empty

  /** Whoever leaves the lock passes on the events that were noted under it: a listener may write to a slow disk. */
  def locked[A](body: => A): A =
    try lock.synchronized(body)
    finally if (hasNoted && !Thread.holdsLock(lock)) tellNoted()

  /** Within [[locked]]: an event for when the lock is given up. */
  def note(event: ConnectorEvent): Unit = {
    noted += event
    hasNoted = true
  }

  private def tellNoted(): Unit = telling.synchronized {
    val told = lock.synchronized {
      val all = noted.toVector
      noted.clear()
      hasNoted = false
      all
    }
    told.foreach(events.emit)
  }

  def isClosed: Boolean = closed

  /** The first failure ends the query with the next thing that it asks. */
  def fail(error: Throwable): Unit = locked {
    if (!closed && failure.isEmpty) {
      failure = Some(error)
      wakeWaiting()
    }
  }

  def throwFailure(): Unit = failure.foreach(error => throw error)

  /** Something was heard that whoever waits may want to know. */
  def noteChange(): Unit = {
    changeCount += 1
    wakeWaiting()
  }

  def changes: Long = changeCount

  /** Waits until a change after `seen`, a failure, the end, or this long. Not for callers that hold the lock. */
  def awaitChange(seen: Long, millis: Long): Unit = {
    val next = locked(if (changeCount == seen && failure.isEmpty && !closed) Some(change) else None)
    next.foreach(waiting.until(_, millis.millis))
  }

  /** The executors that were there. */
  def close(): Seq[ConsumerPeer] = locked {
    closed = true
    wakeWaiting()
    peers.values.toVector
  }

  /** Holds the lock. */
  private def wakeWaiting(): Unit = {
    change.complete(())
    change = new CompletableFuture[Unit]
  }

  def owner(track: ShardTrack): Option[ConsumerPeer] = track.owner.flatMap(peers.get)

  def wanted(): Seq[(StreamShard, ShardPosition)] =
    WantedShards.of(position, graphs, shard => tracks.get(shard).exists(_.ended))

  /** Streams of whose shards' lineage a listing has something to tell: children of an ended shard, or a parent. */
  def streamsWithOpenLineage: Set[String] = {
    val childless = tracks.valuesIterator
      .filter(track => track.ended && !graphs(track.shard.stream).hasAllChildren(track.shard.shard))
      .map(_.shard.stream)
    childless.toSet ++ streamsWithUnconfirmedParents
  }

  /** Streams of which some child waits until a listing has told whether its other parent is still to be read. */
  def streamsWithUnconfirmedParents: Set[String] =
    graphs.iterator.collect { case (stream, graph) if graph.unconfirmed.nonEmpty => stream }.toSet
}
