package org.sparkkinesis.simulation.write.route

import java.util.concurrent.{BlockingQueue, CompletableFuture}

import scala.annotation.tailrec
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
import org.sparkkinesis.simulation.common.{ClosableScheduler, SimulatedProcess, SimulatedThreads}
import org.sparkkinesis.spark.connection.{ConsumersInUse, Environment}

/** The environment of a driver that pins routes, on simulated threads. It reads no stream. */
final private[route] class RouteEnvironment(process: SimulatedProcess, threads: SimulatedThreads, jitter: Random)
    extends Environment {
  override def clock: Clock = process.scheduler
  override def sharedScheduler: Scheduler = process.scheduler
  override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable = new ClosableScheduler(process)
  override def events(query: QueryContext): EventSink = EventSink.Discard
  override def warnOfLoss(loss: KinesisConnectorException): Unit = ()
  override def random(): Double = jitter.nextDouble()
  override def client(settings: ClientSettings): ServiceLease[KinesisService] = notRead
  override def readers(settings: ClientSettings): ShardReaders = notRead
  override def consumersInUse: ConsumersInUse = notRead
  override def heapBytes: Long = notRead
  override def localFiles: SpillFiles = notRead

  override val waiting: Waiting = new Waiting {
    override def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean = {
      process.step()
      threads.await(done, limit)
      process.check()
      done.isDone
    }

    @tailrec
    override def get[A](future: CompletableFuture[A]): A = if (until(future, 1.hour)) future.get() else get(future)

    override def take[A](queue: BlockingQueue[A]): A = notRead
  }

  private def notRead: Nothing = throw new UnsupportedOperationException("the driver of a write reads nothing")
}
