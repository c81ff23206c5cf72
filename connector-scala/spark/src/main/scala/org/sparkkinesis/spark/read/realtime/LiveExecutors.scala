package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

import org.sparkkinesis.concurrent.Clock
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.{ConsumerHealth, EventSink, ExecutorFailed, ExecutorJoined, StreamUnreachable}
import org.sparkkinesis.metric.{OutageWatch, ShardFigures}
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.spark.coordinator.state.{Overtaken, UnreachableStreams}
import org.sparkkinesis.spark.protocol.{
  Broken, DriverHandler, EndTasks, OtherVersion, ParentFinished, Peer, ProtocolCodec, Register, Report, ServiceTime,
  StopAll, TaskEnded, ToDriver, ToExecutor, Unassign
}

/**
 * The executors whose consumers feed the tasks of a real-time query. The tasks claim their shards in their executor;
 * this class records the ends of tasks, who reads which shard and who cannot reach a stream, makes an earlier owner
 * stop, notices what expired unread, and sums the consumers' counters.
 *
 * Called on RPC threads and on the query's thread.
 *
 * @param serviceMillis
 *   returns a time, in epoch milliseconds, that is not later than the service's current time
 * @param latestMillis
 *   returns a time, in epoch milliseconds, that is not earlier than the service's current time; it may be too late
 *   until the service confirms it
 * @param finished
 *   called with a shard that a task has finished, and its children that wait for parents of other tasks
 * @param heard
 *   called with each report of an executor, on an RPC thread and one at a time
 */
final private[realtime] class LiveExecutors(
    serviceMillis: () => Long,
    latestMillis: () => Long,
    clock: Clock,
    events: EventSink,
    finished: (StreamShard, Seq[ChildShard]) => Unit,
    heard: Report => Unit = _ => ()
) extends DriverHandler {
  import LiveExecutors._

  private val executors = mutable.LinkedHashMap.empty[String, Executor]
  private val owners = new LiveOwners(latestMillis)
  private val unreachable = new UnreachableStreams(clock)

  /** The ends of attempts of tasks since the last batch, by their epochs. Not all of them succeed. */
  private val ends = mutable.HashMap.empty[Long, TaskEnded]
  private var isClosed = false
  private var isLastBatch = false

  /** The error that ends the query. */
  private var failed = Option.empty[KinesisConnectorException]

  override def onRegister(message: Array[Byte], peer: Peer, address: String): Unit =
    read(message, address) {
      case Register(id, host, instance) =>
        val isNew = synchronized {
          val known = executors.get(id).exists(_.instance == instance)
          if (!known) executors(id) = new Executor(id, instance, address, peer)
          !known && !isClosed
        }
        if (isNew) events.emit(ExecutorJoined(id, host))
        // The consumers need the service's time for responses without one.
        send(peer, if (synchronized(isClosed)) StopAll else ServiceTime(serviceMillis()))
      case _: Report | _: Broken | _: ParentFinished | _: TaskEnded => ()
    }

  override def onMessage(message: Array[Byte]): Unit = read(message, "an executor") {
    case report: Report => accept(report)
    // The tasks of the executor fail and run again.
    case Broken(id, _, reason) =>
      synchronized(remove(id)).foreach(_ => events.emit(ExecutorFailed(id, reason)))
    case ParentFinished(shard, waiting) => finished(shard, waiting)
    case ended: TaskEnded => synchronized {
        ends(ended.epoch) = ends.get(ended.epoch).fold(ended)(other => ended.copy(end = other.end + ended.end))
      }
    case _: Register => ()
  }

  /** Handles a message. One of another version of the connector ends the batch, and then the query. */
  private def read(message: Array[Byte], from: String)(handle: ToDriver => Unit): Unit =
    OtherVersion.of(message, from).fold(
      { failure =>
        synchronized { failed = failed.orElse(Some(failure)) }
        endTasks()
      },
      handle
    )

  override def onDisconnected(address: String): Unit = synchronized {
    executors.filter(_._2.address == address).keys.toVector.foreach(remove)
  }

  /** Returns how far the fetched part of each shard is behind, in milliseconds. */
  def fetchedMillisBehind: Seq[Long] = synchronized(owners.fetchedMillisBehind)

  /** Returns each shard that is read, and how far its fetched part is behind. */
  def shards: Seq[ShardFigures] = synchronized(owners.figures)

  /** Returns the number of open shards by stream. */
  def openShards: Map[String, Int] = synchronized(owners.openByStream)

  /** Returns the state of the consumers by executor. */
  def health: Map[String, ConsumerHealth] = synchronized(executors.iterator.map { case (id, of) =>
    id -> of.health
  }.toMap)

  def shardsByExecutor: Map[String, Int] =
    synchronized(executors.keys.map(id => id -> owners.shardsOf(id)).toMap)

  /** Returns the sums of the consumers' counters. */
  def totals: Map[String, Long] = synchronized {
    executors.valuesIterator.flatMap(_.metrics).toSeq.groupMapReduce(_._1)(_._2)(_ + _)
  }

  /**
   * Begins a batch. Throws the error that ends the query, if there is one.
   *
   * @param shards
   *   the shards with the times up to which the query has read them, where these are known
   * @param openMillis
   *   times of the service at which shards were open, in epoch milliseconds
   */
  def begin(shards: Map[StreamShard, Option[Long]], openMillis: Map[StreamShard, Long] = Map.empty): Unit =
    synchronized {
      failed.foreach(throw _)
      owners.begin(shards, openMillis)
    }

  /** Returns the ends of these attempts of tasks, and forgets those of all others. */
  def takeEnds(epochs: Seq[Long]): Seq[TaskEnded] = synchronized {
    failed.foreach(throw _)
    val taken = epochs.distinct.map { epoch =>
      ends.getOrElse(epoch, throw new IllegalStateException(s"no executor has sent the end of the attempt $epoch"))
    }
    ends.clear()
    taken
  }

  /** Returns the shards of which records may have expired before they were fetched. Returns each loss once. */
  def takeOvertaken(): Seq[Overtaken] = synchronized(owners.takeOvertaken())

  /**
   * Returns the executors that should not read a stream, because they cannot reach it and another one may reach it.
   *
   * @param all
   *   the ids of all executors, with and without consumers
   */
  def avoidUnreachable(all: Seq[String]): String => Set[String] = {
    val news = synchronized {
      val reported = all.map(_ -> Set.empty[String]).toMap ++ executors.view.mapValues(_.unreachable)
      val read = owners.shardsByStream
      unreachable.avoid(reported, read.keySet).map { case (id, stream) =>
        StreamUnreachable(id, stream, read((id, stream)))
      }
    }
    news.foreach(events.emit)
    stream => synchronized(unreachable.avoided(stream))
  }

  /** Ends the tasks of the current batch on every executor. */
  def endTasks(): Unit = synchronized(executors.values.map(_.peer).toVector).foreach(send(_, EndTasks))

  /**
   * Ends the tasks of the current batch on every executor, also those that begin while this is called: these report
   * what they read then.
   */
  def endForGood(): Unit = {
    synchronized { isLastBatch = true }
    endTasks()
  }

  /** Stops the consumers of every executor. */
  def close(): Unit = {
    val peers = synchronized {
      isClosed = true
      executors.values.map(_.peer).toVector
    }
    peers.foreach(send(_, StopAll))
  }

  private def accept(report: Report): Unit = synchronized {
    executors.get(report.executorId).filter(_.instance == report.instance).foreach { executor =>
      executor.metrics = report.metrics
      executor.unreachable = report.unreachable
      executor.health = report.health
      executor.outages.accept(report.health.outages).foreach(events.emit)
      val reader = Reader(report.executorId, report.instance)
      val moved = report.shards.flatMap { told =>
        val heard = owners.accept(reader, told)
        if (heard.hasFetched) unreachable.reached(report.executorId, told.shard.stream)
        // Of two executors, the one with the older epoch stops.
        heard.stops.map(_ -> told.shard)
      }
      moved.groupMap(_._1)(_._2).foreach { case (id, shards) =>
        executors.get(id).foreach(old => send(old.peer, Unassign(shards)))
      }
      if (isLastBatch) send(executor.peer, EndTasks)
      heard(report)
    }
  }

  private def remove(id: String): Option[Executor] = {
    unreachable.forget(id)
    executors.remove(id)
  }

  private def send(peer: Peer, message: ToExecutor): Unit = peer.send(ProtocolCodec.encode(message))
}

private object LiveExecutors {

  final class Executor(id: String, val instance: Long, val address: String, val peer: Peer) {
    var metrics: Map[String, Long] = Map.empty
    var health: ConsumerHealth = ConsumerHealth()
    val outages = new OutageWatch(id)

    /** The streams that it has not reached for some time. */
    var unreachable: Set[String] = Set.empty
  }
}
