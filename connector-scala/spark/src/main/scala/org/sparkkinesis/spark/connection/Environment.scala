package org.sparkkinesis.spark.connection

import java.util.concurrent.ThreadLocalRandom

import org.sparkkinesis.aws.client.{ClientSettings, KinesisClients}
import org.sparkkinesis.concurrent.{BlockingWait, Clock, Scheduler, SystemClock, SystemScheduler, Waiting}
import org.sparkkinesis.consume.poll.ShardReaders
import org.sparkkinesis.error.{DataLossPolicy, KinesisConnectorException}
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.service.ServiceLease

/** Where the code of one process gets its time, threads and service clients. A simulation gives virtual ones. Thread-safe. */
trait Environment {
  def clock: Clock

  /** How this process's threads wait for each other. */
  def waiting: Waiting

  /** Threads for the caller alone, who closes the scheduler. */
  def scheduler(name: String, threads: Int): Scheduler with AutoCloseable

  /** Threads for everything that has none of its own, as long as the process lives. */
  def sharedScheduler: Scheduler

  def client(settings: ClientSettings): ServiceLease

  /** Counts who polls which shard of a service in this process. */
  def readers(settings: ClientSettings): ShardReaders

  /** The enhanced fan-out consumers that reads of this process use. */
  def consumersInUse: ConsumersInUse

  /** Where events of a query go. */
  def events(query: QueryContext): EventSink

  /** Takes note of records that are lost without an error, beside the event of it; any thread may call it. */
  def warnOfLoss(loss: KinesisConnectorException): Unit

  final def losses(failOnDataLoss: Boolean): DataLossPolicy = new DataLossPolicy(failOnDataLoss, warnOfLoss)

  /** For the jitter of pauses, from 0 until 1. */
  def random(): Double
}

object Environment {

  /** This JVM, and the clients that everything in it shares. */
  object OfJvm extends Environment {
    override def clock: Clock = SystemClock
    override def waiting: Waiting = BlockingWait
    override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable =
      new SystemScheduler(name, threads)
    override lazy val sharedScheduler: Scheduler = new SystemScheduler("kinesis-direct-read", 2)
    override val consumersInUse: ConsumersInUse = new ConsumersInUse
    override def client(settings: ClientSettings): ServiceLease = KinesisClients.shared.acquire(settings)
    override def readers(settings: ClientSettings): ShardReaders = ShardReaders.at(settings.endpoint.getOrElse(""))
    override def events(query: QueryContext): EventSink = new EventLog(query)
    override def warnOfLoss(loss: KinesisConnectorException): Unit = ()
    override def random(): Double = ThreadLocalRandom.current().nextDouble()
  }
}
