package org.sparkkinesis.simulation.spark

import java.util.concurrent.{BlockingQueue, CompletableFuture}

import scala.concurrent.duration._
import scala.util.Random

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Clock, Scheduler, Waiting}
import org.sparkkinesis.consume.poll.ShardReaders
import org.sparkkinesis.consume.spill.SpillFiles
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.service.{KinesisService, ServiceLease}
import org.sparkkinesis.simulation.common.{ClosableScheduler, QueryThread, SimulatedProcess, SimulatedTime}
import org.sparkkinesis.spark.connection.{ConsumersInUse, Environment}

/**
 * The environment of one process: virtual time, waits that advance it, and the modelled service.
 *
 * @param heapBytes
 *   size of the process's heap, which determines how many records it holds in memory
 * @param disk
 *   decides which operations on local files fail
 * @param thread
 *   the query's thread, which may be interrupted
 * @param onLoss
 *   receives reports of records that are lost without an error
 * @param onEvent
 *   receives the events
 */
final class SimulatedEnvironment(
    time: SimulatedTime,
    process: SimulatedProcess,
    service: KinesisService,
    jitter: Random,
    override val heapBytes: Long,
    disk: Random,
    thread: QueryThread,
    onLoss: KinesisConnectorException => Unit,
    onEvent: EventSink
) extends Environment {
  override def clock: Clock = process.scheduler
  override def sharedScheduler: Scheduler = process.scheduler
  override def events(query: QueryContext): EventSink = onEvent
  override def warnOfLoss(loss: KinesisConnectorException): Unit = onLoss(loss)
  private val shared = new ShardReaders
  override val localFiles: SpillFiles = new SimulatedDisk(disk)
  override val consumersInUse: ConsumersInUse = new ConsumersInUse
  override def readers(settings: ClientSettings): ShardReaders = shared
  override def random(): Double = jitter.nextDouble()

  override def client(settings: ClientSettings): ServiceLease[KinesisService] = new ServiceLease[KinesisService] {
    override def service: KinesisService = SimulatedEnvironment.this.service
    override def close(): Unit = ()
  }

  override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable = new ClosableScheduler(process)

  override val waiting: Waiting = new Waiting {
    override def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean = waitFor(limit)(done.isDone)

    override def get[A](future: CompletableFuture[A]): A = {
      while (!waitFor(SimulatedEnvironment.Patience)(future.isDone)) {}
      future.get()
    }

    override def take[A](queue: BlockingQueue[A]): A = {
      while (!waitFor(SimulatedEnvironment.Patience)(!queue.isEmpty)) {}
      queue.take()
    }
  }

  private def waitFor(limit: FiniteDuration)(condition: => Boolean): Boolean = {
    process.step()
    val isOutermost = time.isOutermost
    def isEnded: Boolean = !process.isAlive || (isOutermost && thread.isInterrupted)
    val holds = time.waitFor(limit)(condition || isEnded)
    process.check()
    if (isOutermost) thread.check()
    holds
  }
}

private object SimulatedEnvironment {

  /** Maximum time of one wait before it is started again. */
  val Patience: FiniteDuration = 1.hour
}
