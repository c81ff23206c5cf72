package org.sparkkinesis.consume.poll

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{FakeKinesis, RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event._
import org.sparkkinesis.model._
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{Operation, RecordPage, ServiceErrorKind, ServiceException}

/** Tests that the readers of one shard share its quota of calls. */
class ShardReadersSuite extends PollingFixture {

  /** A service that accepts five calls per second and shard, like the real one, and rejects further calls. */
  private class LimitedKinesis(scheduler: VirtualScheduler) extends FakeKinesis(scheduler) {
    private var free = 5.0
    private var at = scheduler.nanoTime
    var refused = 0

    override def getRecords(stream: StreamRef, iterator: String, limit: Int): CompletableFuture[RecordPage] = {
      free = math.min(5.0, free + (scheduler.nanoTime - at) * 5 / 1e9)
      at = scheduler.nanoTime
      if (free >= 1) free -= 1
      else {
        refused += 1
        fail(Operation.GetRecords, ServiceErrorKind.Throttled)
      }
      super.getRecords(stream, iterator, limit)
    }
  }

  /** Publishers at the tip of one shard, each of a separate query. */
  private def idleReaders(count: Int, minutes: Int, inOneJvm: Boolean): LimitedKinesis = {
    val scheduler = new VirtualScheduler
    val service = new LimitedKinesis(scheduler)
    val shared = new ShardReaders
    service.put(Name, "a")
    (0 until count).foreach { i =>
      var publisher: RecordPublisher = null
      val subscriber = new RecordSubscriber {
        override def onBatch(batch: RecordBatch): Unit = publisher.request(Long.MaxValue)
        override def onShardEnd(children: Seq[ChildShard]): Unit = fail("the shard has not ended")
        override def onError(error: ServiceException): Unit = fail(s"reading failed: $error")
      }
      val readers = if (inOneJvm) shared else new ShardReaders
      publisher = new PollingPublisherFactory(
        _ => service,
        PollingSettings.of(Options.defaults),
        RetryPolicies.of(Options.defaults),
        RetryRules.Default,
        scheduler,
        new ConsumerMetrics,
        () => 0.5,
        _ => readers
      ).subscribe(Shard, StartingPosition.TrimHorizon, subscriber)
      // Queries do not start at the same moment.
      scheduler.advance((37 * i).millis)
      publisher.request(Long.MaxValue)
    }
    scheduler.advance(minutes.minutes)
    service
  }

  test("readers of one shard in one JVM share its quota, and no call is throttled") {
    (1 to 6).foreach { count =>
      val service = idleReaders(count, 5, inOneJvm = true)
      assert(service.refused <= count, s"$count readers: ${service.refused} calls refused")
      assert(
        service.callsOf(Operation.GetRecords).size >= 4 * 300 * 0.9,
        s"$count readers leave the shard's calls unused"
      )
    }
  }

  test("readers of one shard in several JVMs slow down, and few calls are throttled") {
    (2 to 6).foreach { count =>
      val service = idleReaders(count, 10, inOneJvm = false)
      val share = service.refused.toDouble / service.callsOf(Operation.GetRecords).size
      assert(share < 0.06, s"$count readers: $share of the calls refused")
    }
  }
}
