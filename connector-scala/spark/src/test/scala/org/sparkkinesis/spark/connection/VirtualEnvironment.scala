package org.sparkkinesis.spark.connection

import java.util.concurrent.{BlockingQueue, CompletableFuture}

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Cancellable, Clock, Scheduler, VirtualScheduler, Waiting}
import org.sparkkinesis.consume.poll.ShardReaders
import org.sparkkinesis.consume.spill.MemoryFiles
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{EventSink, RecordedEvents}
import org.sparkkinesis.service.{KinesisService, ServiceLease}

/** An environment on virtual time, which advances while the test's thread waits. Every client is the same service. */
class VirtualEnvironment(val time: VirtualScheduler, service: KinesisService) extends Environment {
  override val consumersInUse: ConsumersInUse = new ConsumersInUse
  private val shared = new ShardReaders

  /** Number of leases and schedulers that are not closed. */
  var open = 0
  val losses: mutable.ArrayBuffer[KinesisConnectorException] = mutable.ArrayBuffer.empty

  override def clock: Clock = time
  override def sharedScheduler: Scheduler = time
  override def readers(settings: ClientSettings): ShardReaders = shared
  override def heapBytes: Long = Runtime.getRuntime.maxMemory
  override val localFiles: MemoryFiles = new MemoryFiles
  val recorded = new RecordedEvents
  override def events(query: QueryContext): EventSink = recorded
  override def warnOfLoss(loss: KinesisConnectorException): Unit = losses += loss
  override def random(): Double = 1.0

  /** Kills the running task. */
  var killer: Option[String => Unit] = None
  override def taskKiller(): Option[String => Unit] = killer

  override def client(settings: ClientSettings): ServiceLease[KinesisService] = {
    open += 1
    new ServiceLease[KinesisService] {
      override def service: KinesisService = VirtualEnvironment.this.service
      override def close(): Unit = open -= 1
    }
  }

  override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable = {
    open += 1
    new Scheduler with AutoCloseable {
      override def nanoTime: Long = time.nanoTime
      override def currentMillis: Long = time.currentMillis
      override def execute(task: Runnable): Unit = time.execute(task)
      override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = time.schedule(delay)(task)
      override def close(): Unit = open -= 1
    }
  }

  override val waiting: Waiting = new Waiting {
    override def until(done: CompletableFuture[_], limit: FiniteDuration): Boolean = {
      var over = false
      val alarm = time.schedule(limit) { over = true }
      time.advanceUntil(limit)(done.isDone || over)
      alarm.cancel()
      done.isDone
    }
    override def get[A](future: CompletableFuture[A]): A = {
      time.advanceUntil(1.day)(future.isDone)
      future.get()
    }
    override def take[A](queue: BlockingQueue[A]): A = {
      time.advanceUntil(1.day)(!queue.isEmpty)
      queue.take()
    }
  }
}
