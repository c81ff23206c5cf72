package org.sparkkinesis.spark.read.realtime

import scala.collection.mutable

import org.sparkkinesis.event.{EventSink, ExecutorFailed, ExecutorJoined}
import org.sparkkinesis.model.{ChildShard, StreamShard}
import org.sparkkinesis.spark.protocol.{
  Assign, Broken, DriverHandler, EndTasks, ParentFinished, Peer, ProtocolCodec, Register, Report, StopAll, ToExecutor,
  Unassign
}

/**
 * The executors whose consumers feed the tasks of a real-time query. The tasks claim their shards in their executor;
 * this class records who reads which shard, makes an earlier owner stop, and sums the consumers' counters.
 *
 * Called on RPC threads and on the query's thread.
 *
 * @param serviceMillis
 *   returns a time, in epoch milliseconds, that is not later than the service's current time
 * @param finished
 *   called with a shard that a task has finished, and its children that wait for parents of other tasks
 */
final private[realtime] class LiveExecutors(
    serviceMillis: () => Long,
    events: EventSink,
    finished: (StreamShard, Seq[ChildShard]) => Unit
) extends DriverHandler {
  import LiveExecutors._

  private val executors = mutable.LinkedHashMap.empty[String, Executor]
  private val owners = mutable.HashMap.empty[StreamShard, Owner]
  private var isClosed = false

  override def onRegister(message: Array[Byte], peer: Peer, address: String): Unit =
    ProtocolCodec.decodeToDriver(message) match {
      case Register(id, host, instance) =>
        val isNew = synchronized {
          val known = executors.get(id).exists(_.instance == instance)
          if (!known) executors(id) = new Executor(instance, address, peer)
          !known && !isClosed
        }
        if (isNew) events.emit(ExecutorJoined(id, host))
        // The consumers need the service's time for responses without one.
        send(peer, if (synchronized(isClosed)) StopAll else Assign(Nil, serviceMillis()))
      case _: Report | _: Broken | _: ParentFinished => ()
    }

  override def onMessage(message: Array[Byte]): Unit = ProtocolCodec.decodeToDriver(message) match {
    case report: Report => accept(report)
    // The tasks of the executor fail and run again.
    case Broken(id, _, reason) =>
      synchronized(executors.remove(id)).foreach(_ => events.emit(ExecutorFailed(id, reason)))
    case ParentFinished(shard, waiting) => finished(shard, waiting)
    case _: Register => ()
  }

  override def onDisconnected(address: String): Unit = synchronized {
    executors.filterInPlace((_, executor) => executor.address != address)
    ()
  }

  /** Returns the lag in milliseconds of each shard that is read. */
  def millisBehindLatest: Seq[Long] = synchronized(owners.valuesIterator.flatMap(_.millisBehind).toVector)

  def shardsByExecutor: Map[String, Int] =
    synchronized(executors.keys.map(id => id -> owners.valuesIterator.count(_.executorId == id)).toMap)

  /** Returns the sums of the consumers' counters. */
  def totals: Map[String, Long] = synchronized {
    executors.valuesIterator.flatMap(_.metrics).toSeq.groupMapReduce(_._1)(_._2)(_ + _)
  }

  /** Forgets the shards that are not read any more. */
  def keep(shards: Set[StreamShard]): Unit = synchronized {
    owners.filterInPlace((shard, _) => shards(shard))
    ()
  }

  /** Ends the tasks of the current batch on every executor. */
  def endTasks(): Unit = synchronized(executors.values.map(_.peer).toVector).foreach(send(_, EndTasks))

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
      val moved = report.shards.flatMap { told =>
        val before = owners.get(told.shard)
        val isOlder = before.exists(_.epoch > told.epoch)
        if (!isOlder) {
          val behind =
            Option.when(told.readUpToMillis > 0)(told.millisBehindLatest).orElse(before.flatMap(_.millisBehind))
          owners(told.shard) = Owner(report.executorId, told.epoch, behind)
        }
        // Of two executors, the one with the older epoch stops.
        val stops = if (isOlder) Some(report.executorId) else before.map(_.executorId)
        stops.filter(_ != owners(told.shard).executorId).map(_ -> told.shard)
      }
      moved.groupMap(_._1)(_._2).foreach { case (id, shards) =>
        executors.get(id).foreach(old => send(old.peer, Unassign(shards)))
      }
    }
  }

  private def send(peer: Peer, message: ToExecutor): Unit = peer.send(ProtocolCodec.encode(message))
}

private object LiveExecutors {

  final class Executor(val instance: Long, val address: String, val peer: Peer) {
    var metrics: Map[String, Long] = Map.empty
  }

  final case class Owner(executorId: String, epoch: Long, millisBehind: Option[Long])
}
