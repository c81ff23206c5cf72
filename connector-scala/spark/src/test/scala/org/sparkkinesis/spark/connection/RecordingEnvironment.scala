package org.sparkkinesis.spark.connection

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.concurrent.{Clock, Scheduler, Waiting}
import org.sparkkinesis.consume.poll.ShardReaders
import org.sparkkinesis.consume.spill.SpillFiles
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.service.{KinesisService, ServiceLease}

/** The JVM's environment, with events recorded for the test. */
final class RecordingEnvironment(recorded: EventSink) extends Environment {
  override val consumersInUse: ConsumersInUse = new ConsumersInUse
  import Environment.OfJvm

  override def clock: Clock = OfJvm.clock
  override def waiting: Waiting = OfJvm.waiting
  override def scheduler(name: String, threads: Int): Scheduler with AutoCloseable = OfJvm.scheduler(name, threads)
  override def sharedScheduler: Scheduler = OfJvm.sharedScheduler
  override def client(settings: ClientSettings): ServiceLease[KinesisService] = OfJvm.client(settings)
  override def readers(settings: ClientSettings): ShardReaders = OfJvm.readers(settings)
  override def heapBytes: Long = OfJvm.heapBytes
  override def localFiles: SpillFiles = OfJvm.localFiles
  override def events(query: QueryContext): EventSink = recorded
  override def warnOfLoss(loss: KinesisConnectorException): Unit = ()
  override def random(): Double = OfJvm.random()
}
