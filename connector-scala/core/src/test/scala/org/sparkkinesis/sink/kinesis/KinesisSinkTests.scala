package org.sparkkinesis.sink.kinesis

import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration._

import org.scalatest.{Failed, Outcome, Succeeded}

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event._
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.service.{Operation, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.suite.TimedSuite

/** What the suites of this class share. */
abstract class KinesisSinkTests extends TimedSuite {

  /** Events that were emitted while the thread held a lock of the sink, with the lock. */
  private val lockedEvents = new ConcurrentLinkedQueue[String]

  override protected def withFixture(test: NoArgTest): Outcome = {
    lockedEvents.clear()
    super.withFixture(test) match {
      case Succeeded if !lockedEvents.isEmpty => Failed(s"events were emitted under a lock: $lockedEvents")
      case outcome => outcome
    }
  }

  protected val throttling = PutResult.Rejected("ProvisionedThroughputExceededException", "Rate exceeded for shard")

  protected class Rig(shards: Int, settings: KinesisSinkSettings = KinesisSinkSettings.of(Options.defaults)) {
    val time = new VirtualScheduler
    val stream = new FakeStream(shards)
    private val locks = new SinkLocks
    val events = new RecordedEvents(event => locks.held.foreach(lock => lockedEvents.add(s"$event with $lock")))
    private val process = new SinkProcess(time, new SharedStreamLimits, locks.newCondition)
    var created = 1L
    def open(): KinesisStreamSink = {
      val identity = StreamIdentity("arn:aws:kinesis:us-east-1:000000000000:stream/s", created, "")
      val checked = CheckedStream(StreamRef.ByName("s"), identity, 1 << 20)
      KinesisStreamSink.open(stream, checked, settings, settings.newBounds, process, events)
    }
    lazy val sink: KinesisStreamSink = open()

    def write(key: String, data: String, hash: Option[String] = None): Unit =
      sink.write(new SinkRecord(key, hash, data.getBytes("UTF-8")))

    /** The stored user records by shard, as a reader receives them. */
    def read: Seq[(ShardId, String, String)] = stream.stored.toSeq.flatMap { case (shard, entry) =>
      Option(Deaggregator.open(entry.data)) match {
        case Some(users) =>
          (0 until users.count).map(i => (shard, users.partitionKey(i), new String(users.data(i), "UTF-8")))
        case None => Seq((shard, entry.partitionKey, new String(entry.data, "UTF-8")))
      }
    }

    def flush(): Unit = {
      // Backoff uses virtual time, so due tasks run before the flush waits for them.
      time.advance(30.seconds)
      sink.flush()
    }
  }

  protected def failure(kind: ServiceErrorKind) =
    new ServiceException(kind, Operation.PutRecords, s"${kind}Exception", "message of the service")
}
