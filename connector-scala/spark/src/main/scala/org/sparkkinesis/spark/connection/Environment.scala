package org.sparkkinesis.spark.connection

import java.util.concurrent.ThreadLocalRandom

import scala.concurrent.duration._

import org.apache.spark.sparkkinesis.{LocalDisks, RunningTask}

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, KinesisClients}
import org.sparkkinesis.concurrent.{BlockingWait, CallPacer, Clock, Scheduler, SystemClock, SystemScheduler, Waiting}
import org.sparkkinesis.consume.poll.ShardReaders
import org.sparkkinesis.consume.spill.SpillFiles
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.log.{EventLog, QueryContext}
import org.sparkkinesis.event.{EventSink, Losses}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.service.{KinesisService, ServiceLease}

/**
 * Supplies one process with its clock, threads and service clients. A simulation supplies virtual ones. Thread-safe.
 */
trait Environment {
  def clock: Clock

  /** Blocks the calling thread until a result is available. */
  def waiting: Waiting

  /** Creates threads for the caller, which must close the scheduler. */
  def scheduler(name: String, threads: Int): Scheduler with AutoCloseable

  /** Threads of the process for code without a scheduler of its own. They exist while there are tasks. */
  def sharedScheduler: Scheduler

  /** Returns a client for these settings. The caller must close the lease. */
  def client(settings: ClientSettings): ServiceLease[KinesisService]

  /**
   * Spaces the descriptions of streams with which reads and writes begin. The callers of this process that have one
   * identity, region and endpoint share the quota of an account. If empty, nothing is spaced.
   */
  def descriptions: Option[CallPacer[Environment.Caller]] = None

  /** Counts the readers that poll each shard of a service in this process. */
  def readers(settings: ClientSettings): ShardReaders

  /** Maximum size of this process's heap in bytes. */
  def heapBytes: Long

  /** Local files for fetched records that memory cannot hold. */
  def localFiles: SpillFiles

  /** The enhanced fan-out consumers that reads of this process use. */
  def consumersInUse: ConsumersInUse

  /** Returns the sink that receives a query's events. */
  def events(query: QueryContext): EventSink

  /** Called for records that are lost without an error, in addition to the event. Any thread may call it. */
  def warnOfLoss(loss: KinesisConnectorException): Unit

  /** Reports the losses of one read. */
  final def losses(failOnDataLoss: Boolean, events: EventSink): Losses =
    new Losses(failOnDataLoss, events.emit, warnOfLoss)

  /**
   * Returns a function that kills the task of the calling thread for a reason, so that Spark runs it again, possibly in
   * another executor, without counting a failure. Returns nothing if no other executor can run it.
   */
  def taskKiller(): Option[String => Unit] = None

  /** Returns a random number from 0 (inclusive) to 1 (exclusive), for the jitter of pauses. */
  def random(): Double
}

object Environment {

  /** What shares a quota: identity, region and endpoint. */
  type Caller = (CredentialSettings, Option[String], Option[String])

  private[connection] def callerOf(settings: ClientSettings): Caller =
    (settings.credentials, settings.region, settings.endpoint)

  /** Leaves a quarter of the quota of DescribeStreamSummary to other processes and to running queries. */
  private[connection] def paced(): CallPacer[Caller] =
    new CallPacer(1.second / (KinesisQuotas.CallRate.DescribeStreamSummaryPerAccount * 3 / 4).toLong)

  /** The environment of this JVM: system clock, real threads, and clients that the whole JVM shares. */
  object OfJvm extends Environment {
    override def clock: Clock = SystemClock
    override def waiting: Waiting = BlockingWait
    override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable =
      new SystemScheduler(name, threads)
    override lazy val sharedScheduler: Scheduler = new SystemScheduler("kinesis-direct-read", 2, Some(10.seconds))
    override def heapBytes: Long = Runtime.getRuntime.maxMemory
    override def localFiles: SpillFiles = LocalDisks
    override val consumersInUse: ConsumersInUse = new ConsumersInUse
    override def client(settings: ClientSettings): ServiceLease[KinesisService] =
      KinesisClients.shared.acquire(settings)
    override val descriptions: Option[CallPacer[Caller]] = Some(paced())
    override def readers(settings: ClientSettings): ShardReaders =
      ShardReaders.at(AwsHosts.serviceAt(settings.endpoint.getOrElse("")))
    override def events(query: QueryContext): EventSink = new EventLog(query)
    override def warnOfLoss(loss: KinesisConnectorException): Unit = ()
    override def taskKiller(): Option[String => Unit] = RunningTask.killer()
    override def random(): Double = ThreadLocalRandom.current().nextDouble()
  }
}
