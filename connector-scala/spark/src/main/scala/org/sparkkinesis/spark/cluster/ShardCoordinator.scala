package org.sparkkinesis.spark.cluster

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerBlockManagerAdded,
  SparkListenerExecutorAdded,
  SparkListenerExecutorRemoved
}
import org.apache.spark.sparkkinesis.ClusterRpc
import org.slf4j.LoggerFactory

import org.sparkkinesis.consume.{ChunkSummary, MissingResource, StreamShard}
import org.sparkkinesis.model.{ChildShard, HashKeyRange, SequenceNumber, Shard}
import org.sparkkinesis.plan._
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.shard.ShardGraph
import org.sparkkinesis.spark.read.ReadSettings

/**
 * Knows, on the driver, which executor reads which shard of one running source, and what it holds; plans from that.
 *
 * Reports come on RPC threads, planning on the query's. Listing shards, starting consumers and giving shards their owners have a
 * thread each ([[PlacementLoop]]): a slow listing, or a batch that leaves no slot free, never keeps a lost executor's shards waiting.
 * All state is below one lock, held for microseconds.
 *
 * @param listShards
 *   all shards of the stream with this ARN; may block
 */
final class ShardCoordinator(
    context: SparkContext,
    sourceId: String,
    settings: ReadSettings,
    streams: Seq[String],
    listShards: String => Seq[Shard],
    discoveryMillis: Long
) extends AutoCloseable {
  import ShardCoordinator._

  private val lock = new Object
  private val hosts = mutable.LinkedHashMap.empty[String, ConsumerPeer]
  private val tracks = mutable.HashMap.empty[StreamShard, ShardTrack]
  private var graphs: Map[String, ShardGraph] = streams.map(_ -> ShardGraph.Empty).toMap
  private var listed = Set.empty[String]
  private var position: SourceOffset = SourceOffset(SortedMap.empty[String, StreamOffset])
  private var failure: Option[Throwable] = None
  private var closed = false
  private var changeCount = 0L

  /** Of the newest assignment of any shard. */
  private var epoch = 0L
  private var lostMetrics = Map.empty[String, Long]

  private val endpoint = ClusterRpc.openOnDriver(ConsumerHost.coordinatorName(sourceId), Rpc)
  private val discovery =
    new PlacementLoop(s"kinesis-discovery-$sourceId", discoveryMillis, failed => fail(failed))(due => discover(due))
  private val starter =
    new ConsumerStarter(context, sourceId, settings, discoveryMillis, isKnown, failed => fail(failed))
  private val placement =
    new PlacementLoop(s"kinesis-placement-$sourceId", discoveryMillis, failed => fail(failed))(_ => assign())
  context.addSparkListener(Listener)

  /** Where planning has got to: everything before is dropped wherever it is held, and what must be read next is read. */
  def advance(to: SourceOffset): Unit = {
    val (changed, isFirst) = lock.synchronized {
      failure.foreach(error => throw error)
      val before = position
      val moved = !(before eq to) && before != to
      if (moved) {
        position = to
        release(before, to)
      }
      (moved, before.streams.isEmpty)
    }
    if (isFirst) {
      discovery.wake()
      starter.wake()
    }
    if (changed) placement.wake()
  }

  /**
   * Where the next batch ends, or none when there is nothing.
   *
   * @param until
   *   leaves out what arrived later
   */
  def plan(start: SourceOffset, limits: ReadLimits, until: Option[AvailableNowTarget]): Option[PlannedBatch] =
    lock.synchronized {
      failure.foreach(error => throw error)
      BatchPlanner.plan(start, graphs, shard => tracks.get(shard).map(available(_, until)), limits)
    }

  /** Whether everything that belongs to the target was planned; asked when there is nothing to plan. */
  def isReached(target: AvailableNowTarget): Boolean = lock.synchronized {
    listed.size == streams.size && wanted().forall { case (shard, _) =>
      tracks.get(shard).exists(track => target.isReached(track.chunks.toVector, track.readUpToMillis, track.ended))
    }
  }

  /** Whether the consumers have fetched, of every shard, all that belongs to the target; part of it may be planned only later. */
  def everythingIsFetched(target: AvailableNowTarget): Boolean = lock.synchronized {
    listed.size == streams.size && wanted().forall { case (shard, _) =>
      tracks.get(shard).exists { track =>
        track.ended || track.readUpToMillis >= target.millis ||
        track.chunks.exists(_.firstArrivalMillis > target.millis)
      }
    }
  }

  def hashKeyRange(shard: StreamShard): Option[HashKeyRange] =
    lock.synchronized(graphs(shard.stream).range(shard.shard))

  /** Counts what was heard; for [[awaitChange]]. */
  def changes: Long = lock.synchronized(changeCount)

  /** Waits until something was heard since `seen`, at most this long. */
  def awaitChange(seen: Long, millis: Long): Unit = lock.synchronized {
    val deadline = System.nanoTime() + millis * 1000000
    while (changeCount == seen && failure.isEmpty && !closed && System.nanoTime() < deadline)
      lock.wait(math.max(1, (deadline - System.nanoTime()) / 1000000))
  }

  /** Frees the buffers of what is reported already, so that the consumers go on; tasks will read it from the service. */
  def readAhead(): Unit = lock.synchronized {
    tracks.valuesIterator.filter(_.owner.nonEmpty).toSeq.groupBy(_.owner.get).foreach { case (owner, ofOwner) =>
      val reported = ofOwner.flatMap(track => track.lastReported.map(track.shard -> _))
      if (reported.nonEmpty) hosts.get(owner).foreach(_.tell(Release(reported)))
    }
  }

  /** Some executor's buffer takes no more until something is planned. */
  def bufferIsFull: Boolean = lock.synchronized(hosts.valuesIterator.exists(_.bufferIsFull))

  /** Rows that are reported and not planned. */
  def availableRows: Long = lock.synchronized(tracks.valuesIterator.map(_.chunks.iterator.map(_.rows.toLong).sum).sum)

  /** The executor that reads a shard, as (id, host). */
  def owner(shard: StreamShard): Option[(String, String)] =
    lock.synchronized(tracks.get(shard).flatMap(_.owner).flatMap(hosts.get).map(peer => (peer.id, peer.host)))

  /** The last record that was fetched of a shard that has ended. */
  def lastOfEnded(shard: StreamShard): Option[SequenceNumber] =
    lock.synchronized(tracks.get(shard).filter(_.ended).flatMap(_.lastReported))

  def status: CoordinatorStatus = lock.synchronized {
    val behind = tracks.valuesIterator.filterNot(_.ended).flatMap(_.millisBehindLatest).toVector
    CoordinatorStatus(
      behind,
      tracks.valuesIterator.count(!_.ended),
      tracks.valuesIterator.count(_.ended),
      hosts.valuesIterator.map(host => host.id -> tracks.valuesIterator.count(_.owner.contains(host.id))).toMap,
      hosts.valuesIterator.map(_.metrics).foldLeft(lostMetrics)(sum)
    )
  }

  override def close(): Unit = {
    val told = lock.synchronized {
      closed = true
      lock.notifyAll()
      hosts.values.toVector
    }
    context.removeSparkListener(Listener)
    discovery.close()
    starter.close()
    placement.close()
    // Consumers stop before the endpoint that they report to does.
    told.foreach(_.tell(StopAll))
    endpoint.close()
  }

  private def available(track: ShardTrack, until: Option[AvailableNowTarget]): ShardAvailability = {
    val chunks = track.chunks.toVector
    val within = until.fold[IndexedSeq[ChunkSummary]](chunks)(_.within(chunks))
    ShardAvailability(within, track.ended && within.size == chunks.size, track.readUpToMillis)
  }

  private def wanted(): Seq[(StreamShard, ShardPosition)] =
    WantedShards.of(position, graphs, shard => tracks.get(shard).exists(_.ended))

  /**
   * Drops what was planned, here and where it is held; also where nothing was reported yet: an owner that came late may still be
   * fetching it. Holds the lock.
   */
  private def release(before: SourceOffset, to: SourceOffset): Unit = {
    val finished = for {
      stream <- to.streams.valuesIterator
      known = before.streams.get(stream.arn).map(_.shards)
      (id, position) <- stream.shards.iterator
      if !known.exists(_.get(id).contains(position))
      track <- tracks.get(StreamShard(stream.arn, id))
      owner <- track.owner
      dropped = track.dropPlanned(position)
      upTo <- position match {
        case ShardPosition.After(number, _) => Some(number)
        case _ => dropped
      }
    } yield (owner, track.shard -> upTo)
    finished.toVector.groupMap(_._1)(_._2).foreach { case (owner, numbers) =>
      hosts.get(owner).foreach(_.tell(Release(numbers)))
    }
  }

  /** One round of discovery: lists what is due, or what an end has left open. May block. */
  private def discover(isDue: Boolean): Unit = {
    val toList = lock.synchronized(if (isDue) streams.toSet else streams.toSet -- listed ++ streamsWithUnknownChildren)
    toList.foreach { stream =>
      val shards = listShards(stream)
      lock.synchronized {
        graphs += stream -> graphs(stream).withListing(shards)
        listed += stream
      }
    }
    placement.wake()
  }

  private def streamsWithUnknownChildren: Set[String] = tracks.valuesIterator
    .filter(track => track.ended && !graphs(track.shard.stream).hasAllChildren(track.shard.shard))
    .map(_.shard.stream)
    .toSet

  private def isKnown(executor: String): Boolean = lock.synchronized(hosts.contains(executor))

  /** One round of placement: gives every shard that must be read an owner. */
  private def assign(): Unit = lock.synchronized {
    if (!closed && hosts.nonEmpty) {
      // A stream that was not listed yet would be read without its shards' hash ranges.
      val shards = wanted().filter { case (shard, _) =>
        listed(shard.stream) && !tracks.get(shard).exists(track => track.ended && track.owner.nonEmpty)
      }
      val positions = shards.toMap
      val current = tracks.valuesIterator.flatMap(track => track.owner.map(track.shard -> _)).toMap
      val near = (shard: StreamShard) =>
        graphs(shard.stream).parents(shard.shard).flatMap(parent =>
          current.get(StreamShard(shard.stream, parent))
        ).headOption
      val placed = Placement.place(shards.map(_._1), hosts.keys.toVector, current, near)
      val news = placed.toVector.filter { case (shard, owner) => !current.get(shard).contains(owner) }
      news.foreach { case (shard, _) => current.get(shard).flatMap(hosts.get).foreach(_.tell(Unassign(Seq(shard)))) }
      news.groupMap(_._2)(_._1).foreach { case (owner, ofOwner) =>
        val assigned = ofOwner.flatMap { shard =>
          positions(shard).resumeAt.map { at =>
            val track = tracks.getOrElseUpdate(shard, new ShardTrack(shard))
            epoch += 1
            track.assign(owner, epoch)
            Assigned(shard, at, track.epoch, graphs(shard.stream).range(shard.shard))
          }
        }
        hosts(owner).tell(Assign(assigned))
      }
      retire()
    }
  }

  /** Stops consumers of shards that have left the offset. Holds the lock. */
  private def retire(): Unit = {
    val keep = wanted().iterator.map(_._1).toSet
    val gone = tracks.keysIterator.filterNot { shard =>
      keep(shard) || position.streams.get(shard.stream).exists(_.shards.contains(shard.shard))
    }.toVector
    gone.flatMap(tracks.remove).groupBy(_.owner).foreach { case (owner, left) =>
      owner.flatMap(hosts.get).foreach(_.tell(Unassign(left.map(_.shard))))
    }
  }

  private def fail(error: Throwable): Unit = lock.synchronized {
    if (!closed && failure.isEmpty) {
      failure = Some(error)
      lock.notifyAll()
    }
  }

  private def lose(executorId: String): Unit = {
    val (wasThere, othersAreThere) = lock.synchronized((forget(executorId), hosts.nonEmpty))
    if (wasThere) {
      log.info(s"Executor $executorId is lost; its shards are read elsewhere")
      if (othersAreThere) placement.wake() else starter.wake()
    }
  }

  /** Whether it was there. Holds the lock. */
  private def forget(executorId: String): Boolean = {
    val gone = hosts.remove(executorId)
    gone.foreach(peer => lostMetrics = sum(lostMetrics, peer.metrics - "bufferedBytes"))
    tracks.valuesIterator.filter(_.owner.contains(executorId)).foreach(_.lose())
    gone.nonEmpty
  }

  private object Rpc extends ClusterRpc.DriverHandler {
    override def onRegister(message: Array[Byte], peer: ClusterRpc.Peer, address: String): Unit =
      ProtocolCodec.decodeToDriver(message) match {
        case introduction: Register =>
          val isClosed = lock.synchronized {
            val isKnown = hosts.get(introduction.executorId).exists { known =>
              known.instance == introduction.instance && known.address == address
            }
            if (!closed && !isKnown) {
              forget(introduction.executorId)
              hosts(introduction.executorId) = ConsumerPeer(introduction, peer, address)
            }
            closed
          }
          if (isClosed) peer.send(ProtocolCodec.encode(StopAll)) else placement.wake()
        case _: Report => ()
      }

    override def onMessage(message: Array[Byte]): Unit = ProtocolCodec.decodeToDriver(message) match {
      case report: Report => accept(report)
      case _: Register => ()
    }

    override def onDisconnected(address: String): Unit = {
      val gone = lock.synchronized(hosts.valuesIterator.filter(_.address == address).map(_.id).toVector)
      gone.foreach(lose)
    }
  }

  private def accept(report: Report): Unit = {
    val (ended, unknownChildren, unassigned) = lock.synchronized {
      hosts.get(report.executorId).filter(_.instance == report.instance).fold((false, false, false)) { from =>
        val mustName = from.hear(report, epoch)
        val (own, others) =
          report.shards.partition(told => tracks.get(told.shard).exists(_.owner.contains(from.id)))
        // It was taken from this executor, or given to another one while this one was out of sight.
        if (others.nonEmpty) from.tell(Unassign(others.map(_.shard)))
        val planned = own.flatMap(acceptShard(_, report.full))
        if (planned.nonEmpty) from.tell(Release(planned))
        val lost = mustName.exists(loseUnnamed(from, report, _))
        changeCount += 1
        lock.notifyAll()
        (own.exists(told => told.end.nonEmpty || told.failure.nonEmpty), streamsWithUnknownChildren.nonEmpty, lost)
      }
    }
    if (ended && unknownChildren) discovery.wake() else if (ended || unassigned) placement.wake()
  }

  /** Takes one shard's news in; tells up to where they were planned already. Holds the lock. */
  private def acceptShard(told: ShardReport, replaces: Boolean): Option[(StreamShard, SequenceNumber)] =
    tracks.get(told.shard).filter(_.epoch == told.epoch).flatMap { track =>
      track.accept(told, replaces)
      told.failure.foreach(giveUp(track, _))
      told.end.foreach(children =>
        graphs += track.shard.stream -> graphs(track.shard.stream).withChildren(withParent(track, children))
      )
      position.streams.get(track.shard.stream).flatMap(_.shards.get(track.shard.shard))
        .flatMap(track.dropPlanned).map(track.shard -> _)
    }

  /** What a full report does not name was never heard of there: it is assigned anew. Holds the lock. */
  private def loseUnnamed(from: ConsumerPeer, report: Report, upToEpoch: Long): Boolean = {
    val named = report.shards.iterator.map(told => told.shard -> told.epoch).toSet
    val unnamed = tracks.valuesIterator.filter { track =>
      track.owner.contains(from.id) && track.epoch <= upToEpoch && !named(track.shard -> track.epoch)
    }.toVector
    unnamed.foreach(_.lose())
    unnamed.nonEmpty
  }

  /** A shard that is gone holds nothing more to read; whether that is an error is the user's choice. */
  private def giveUp(track: ShardTrack, error: ServiceException): Unit =
    if (!settings.failOnDataLoss && MissingResource.of(error).contains(MissingResource.Shard)) {
      log.warn(s"${track.shard} is gone, with what was not read of it; its children follow")
      track.failure = None
      track.ended = true
    } else failure = failure.orElse(Some(new ShardFailed(track.shard, error)))

  /** The service names a merge's child with both parents; one that does not is the reporting shard's. */
  private def withParent(track: ShardTrack, children: Seq[ChildShard]): Seq[ChildShard] =
    children.map(child => if (child.parents.isEmpty) child.copy(parents = Seq(track.shard.shard)) else child)

  private object Listener extends SparkListener {
    override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit = starter.wake()

    // Only then is it known where it can be reached.
    override def onBlockManagerAdded(event: SparkListenerBlockManagerAdded): Unit = starter.wake()
    override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = lose(event.executorId)
  }
}

/**
 * What a coordinator knows at a moment, for metrics.
 *
 * @param millisBehindLatest
 *   of every open shard that was heard of
 * @param totals
 *   counters of all consumers, lost ones included
 */
final case class CoordinatorStatus(
    millisBehindLatest: Seq[Long],
    openShards: Int,
    endedShards: Int,
    shardsByExecutor: Map[String, Int],
    totals: Map[String, Long]
)

/** A consumer gave its shard up. */
final class ShardFailed(val shard: StreamShard, val error: ServiceException)
    extends RuntimeException(s"$shard: ${error.getMessage}", error)

private object ShardCoordinator {
  private val log = LoggerFactory.getLogger(classOf[ShardCoordinator])

  private def sum(a: Map[String, Long], b: Map[String, Long]): Map[String, Long] = (a.keySet ++ b.keySet).iterator.map(
    name => name -> (a.getOrElse(name, 0L) + b.getOrElse(name, 0L))
  ).toMap
}
