package org.sparkkinesis.spark.coordinator.state

import java.util.concurrent.CompletableFuture

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.SummaryBounds
import org.sparkkinesis.concurrent.{BlockingWait, Clock, SystemClock, Waiting}
import org.sparkkinesis.event.{ConnectorEvent, EventSink}
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.protocol.Unassign
import org.sparkkinesis.spark.settings.StreamConnection

/**
 * The shared state of one running source's coordinator. Its parts access the state only within [[locked]], and hold
 * the lock for microseconds. They also pass messages for executors to the RPC within it, so that messages are sent in
 * the order of the changes they describe.
 *
 * @param initial
 *   ARNs of the source's streams, until the first position is set
 * @param bounds
 *   limits for joining the summaries of reported chunks
 * @param events
 *   receives the events of [[note]], in order, without the lock held
 * @param filtersByRange
 *   whether the executors leave out user records by the hash key range of their shard
 */
final private[coordinator] class CoordinatorState(
    initial: Seq[String],
    val bounds: SummaryBounds,
    val clock: Clock = SystemClock,
    waiting: Waiting = BlockingWait,
    events: EventSink = EventSink.Discard,
    filtersByRange: Boolean = false
) {
  private val lock = new Object
  private val telling = new Object
  private val noted = mutable.ArrayBuffer.empty[ConnectorEvent]
  @volatile private var hasNoted = false

  /** Completes at the next change and is then replaced. */
  private var change = new CompletableFuture[Unit]
  private var failure: Option[Throwable] = None
  private var closed = false
  private var changeCount = 0L

  /** Executors whose consumers have registered, by executor id. */
  val peers: mutable.LinkedHashMap[String, ConsumerPeer] = mutable.LinkedHashMap.empty

  /** Shards whose records may have expired before they were fetched. */
  val overtaken = new OvertakenShards
  val unreachable = new UnreachableStreams(clock)
  val tracks: mutable.HashMap[StreamShard, ShardTrack] = mutable.HashMap.empty
  val givenUp = new GivenUpShards
  val openShards = new OpenShardTimes

  /** ARNs of the streams that are read. */
  var streams: Set[String] = initial.toSet

  /** Streams that do not exist any more. */
  val missing: mutable.LinkedHashMap[String, StreamGone] = mutable.LinkedHashMap.empty

  /**
   * Streams that may have been recreated: the service does not have one of their shards any more, has another one of
   * the same name, or reports children that a shard cannot have.
   */
  var doubtful: Set[String] = Set.empty

  /** Streams of which no record is planned, because other streams must be read before them. */
  var heldBack: Set[String] = Set.empty

  /** Connections of the streams that were added while the query was running. */
  var connections: Map[String, StreamConnection] = Map.empty
  var graphs: Map[String, ShardGraph] = Map.empty[String, ShardGraph].withDefaultValue(ShardGraph.Empty)

  /** Streams whose shards have been listed at least once. */
  var listed: Set[String] = Set.empty

  private var planFrom: SourceOffset = SourceOffset(SortedMap.empty[String, StreamOffset])

  /** Times that batches of this run gave to shards without an answer. */
  val givenTimes = new GivenTimes

  /** The end of the batch that was planned from there, if there is one. */
  private var planTo = Option.empty[SourceOffset]

  /** The shards that the batch which was planned from the position reads to their ends. */
  private var plannedToEnd = Set.empty[StreamShard]

  /** The epoch of the newest assignment of any shard. */
  var epoch = 0L

  /** The counters of lost executors, summed. */
  var lostMetrics: Map[String, Long] = Map.empty

  /**
   * Runs `body` with the lock held. The events that were noted are emitted after the lock is released, because a
   * listener may write to a slow disk.
   */
  def locked[A](body: => A): A =
    try lock.synchronized(body)
    finally if (hasNoted && !Thread.holdsLock(lock)) tellNoted()

  /** Queues an event until the lock is released. The caller holds the lock. */
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

  /** Records the failure that ends the query at its next call. Only the first failure counts. */
  def fail(error: Throwable): Unit = locked {
    if (!closed && failure.isEmpty) {
      failure = Some(error)
      wakeWaiting()
    }
  }

  /** Removes the failure that ends the query if it is such a one. The caller holds the lock. */
  def forgive(isForgiven: PartialFunction[Throwable, Boolean]): Unit =
    failure = failure.filterNot(isForgiven.applyOrElse(_, (_: Throwable) => false))

  def throwFailure(): Unit = failure.foreach(error => throw error)

  /** Records a change that waiting callers may be interested in. The caller holds the lock. */
  def noteChange(): Unit = {
    changeCount += 1
    wakeWaiting()
  }

  def changes: Long = changeCount

  /**
   * Waits for a change after `seen`, a failure, the end of the query, or this many milliseconds. The caller must not
   * hold the lock.
   */
  def awaitChange(seen: Long, millis: Long): Unit = {
    val next = locked(if (changeCount == seen && failure.isEmpty && !closed) Some(change) else None)
    next.foreach(waiting.until(_, millis.millis))
  }

  /** Marks the query as ended. Returns the executors that were registered. */
  def close(): Seq[ConsumerPeer] = locked {
    closed = true
    wakeWaiting()
    peers.values.toVector
  }

  /** Wakes all waiting callers. The caller holds the lock. */
  private def wakeWaiting(): Unit = {
    change.complete(())
    change = new CompletableFuture[Unit]
  }

  /** Changes the streams that are read. Nothing of a stream that is not read any more is kept. */
  def read(now: Set[String]): Unit = if (now != streams) {
    val left = streams -- now
    listed --= left
    missing --= left
    doubtful --= left
    givenTimes.forget(left)
    graphs = graphs.removedAll(left)
    openShards.forget(left)
    streams = now
  }

  def owner(track: ShardTrack): Option[ConsumerPeer] = track.owner.flatMap(peers.get)

  def tracksOf(stream: String): Iterator[ShardTrack] = tracks.valuesIterator.filter(_.shard.stream == stream)

  /** Tells the owners of these shards to stop reading them. */
  def unassign(left: Seq[ShardTrack]): Unit = left.groupBy(_.owner).foreach { case (owner, ofOwner) =>
    owner.flatMap(peers.get).foreach(_.tell(Unassign(ofOwner.map(_.shard))))
  }

  /** Whether a report of a shard's owner was lost, so that earlier records than the reported ones may exist. */
  def lacksNews(track: ShardTrack): Boolean = owner(track).exists(_.lacksNews)

  /**
   * Returns a time before which no record of a shard without an answer arrived that is still to be read. The records of
   * a child arrived after those of its parents, and after the last time at which a parent was still open. The first
   * batch of a query may give the shard such a time after its first owner began.
   */
  def unreadSince(shard: StreamShard): Option[Long] = {
    val now = position.streams.get(shard.stream)
    val end =
      planTo.flatMap(_.streams.get(shard.stream)).filter(to => now.forall(_.creationMillis == to.creationMillis))
    unreadSince(shard, now).orElse(unreadSince(shard, end))
  }

  private def unreadSince(shard: StreamShard, planned: Option[StreamOffset]): Option[Long] = {
    def readUntil(one: ShardId) = planned.flatMap(_.readUntil(one)).map(givenTimes.unreadSince(shard.stream, _))
    def lastOf(parent: ShardId): Option[Long] = {
      val track = tracks.get(StreamShard(shard.stream, parent))
      val lastRead = track.flatMap(_.chunks.lastOption).map(_.lastArrivalMillis)
        .orElse(readUntil(parent)).orElse(track.flatMap(_.unreadSince))
      (lastRead ++ childrenSince(StreamShard(shard.stream, parent))).maxOption
    }
    if (planned.exists(_.shards.contains(shard.shard))) readUntil(shard.shard)
    else graphs(shard.stream).parents(shard.shard).flatMap(lastOf).maxOption
  }

  /**
   * A time before which no record of the shard's children arrived, with a margin, because the shard was still open
   * then. Its last record may be much older.
   */
  def childrenSince(shard: StreamShard): Option[Long] =
    openShards.lastOpenMillis(shard).map(millis => math.max(0, millis - IdleTime.Margin))

  /** The position from which the next batch is planned. Records before it are dropped. */
  def position: SourceOffset = planFrom

  /** Sets the position, which no batch was planned from. */
  def moveTo(to: SourceOffset): Unit = {
    planFrom = to
    planTo = None
    plannedToEnd = Set.empty
  }

  /** Records the end of a batch that was planned from the position. Its tasks still need the records. */
  def notePlanned(end: SourceOffset): Unit = {
    planTo = Some(end)
    plannedToEnd = position.read.flatMap { stream =>
      end.streams.get(stream.arn).filter(_.creationMillis == stream.creationMillis).iterator.flatMap { ended =>
        stream.shards.keysIterator.filter(ended.shards.get(_).contains(ShardPosition.ShardEnd))
      }.map(StreamShard(stream.arn, _))
    }.toSet
  }

  /** Takes a shard from its owner. */
  def lose(track: ShardTrack): Unit = track.lose(plannedToEnd(track.shard))

  /** Records how far a shard was behind, if the shortest retention period would have lost records then. */
  def readLate(late: Overtaken): Unit = if (late.exceedsShortestRetention) overtaken.add(late)

  def wanted(): Seq[(StreamShard, ShardPosition)] =
    WantedShards.of(position, graphs, shard => tracks.get(shard).exists(_.ended))

  /** Returns the streams that must be listed again before anything is certain about their shards. */
  def streamsToList: Set[String] =
    streamsWithOpenLineage ++ givenUp.streamsToList(graphs) ++ streamsWithUndecidedShards ++ streamsWithoutRanges

  /**
   * Returns whether a shard must not be read yet, because its records are filtered by its hash key range, which a
   * listing may still show.
   */
  def lacksRange(shard: StreamShard): Boolean = filtersByRange && graphs(shard.stream).mayBeOmitted(shard.shard)

  private def streamsWithoutRanges: Set[String] =
    if (filtersByRange) position.read.filter(_.unfinished.exists(lacksRange)).map(_.arn).toSet else Set.empty

  /** Returns the streams of which a listing must show whether their shards were open when a trigger began. */
  private def streamsWithUndecidedShards: Set[String] =
    if (!openShards.hasRequirement) Set.empty
    else
      wanted().iterator.map(_._1)
        .filter(shard => !missing.contains(shard.stream) && !tracks.get(shard).exists(_.ended))
        .filter(openShards.isUndecided).map(_.stream).toSet

  /**
   * Returns the streams with an open lineage: the children of a shard that has ended or that the position contains as
   * finished, or a second parent of a child, are still unknown. The end may have been read by an earlier run or a lost
   * executor, whose reports of children are lost.
   */
  def streamsWithOpenLineage: Set[String] = {
    val ended = tracks.valuesIterator.filter(track => track.ended && !track.isGone).map(_.shard)
    val childless = (ended ++ finished).filter(shard => !graphs(shard.stream).hasAllChildren(shard.shard))
    childless.map(_.stream).toSet ++ streamsWithUnconfirmedParents
  }

  /** The shards that the position contains as finished, without those that do not exist any more. */
  private def finished: Iterator[StreamShard] = for {
    stream <- position.read
    (id, ShardPosition.ShardEnd) <- stream.shards.iterator
    shard = StreamShard(stream.arn, id) if !tracks.get(shard).exists(_.isGone)
  } yield shard

  /**
   * Returns the streams with a child that has to wait until a listing shows whether its other parent is still to be
   * read.
   */
  def streamsWithUnconfirmedParents: Set[String] =
    graphs.iterator.collect { case (stream, graph) if graph.unconfirmed.nonEmpty => stream }.toSet
}
