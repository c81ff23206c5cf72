package org.sparkkinesis.consume.fanout

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event._
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.suite.TimedSuite

/** The common part of the suites of the fan-out publisher: a reader of one shard on virtual time. */
abstract class FanOutFixture extends TimedSuite {
  protected val Shard = StreamShard("orders", ShardId("shardId-000000000000"))
  protected val Children = Seq(ChildShard(ShardId("shardId-000000000001"), Seq(Shard.shard), HashKeyRange.Whole))
  protected val Start = AfterSequenceNumber(Events.number(100))

  protected class Reading(
      policies: RetryPolicies = RetryPolicies.of(Options.defaults),
      settings: FanOutSettings = FanOutSettings.Standard
  ) extends RecordSubscriber {
    val scheduler = new VirtualScheduler
    val service = new FakeSubscriptions(scheduler)
    val metrics = new ConsumerMetrics
    val events = new RecordedEvents
    val batches = mutable.ArrayBuffer.empty[RecordBatch]
    var end: Option[Seq[ChildShard]] = None
    var error: Option[ServiceException] = None
    var isHungry = true
    val publisher: RecordPublisher =
      new FanOutPublisherFactory(
        _ => service,
        _ => "consumer-arn",
        settings,
        policies,
        RetryRules.Default,
        scheduler,
        metrics,
        () => 0.5,
        events
      )
        .subscribe(Shard, Start, this)

    override def onBatch(batch: RecordBatch): Unit = {
      assert(end.isEmpty && error.isEmpty, "a batch after the end")
      batches += batch
      if (isHungry) publisher.request(1)
    }
    override def onShardEnd(children: Seq[ChildShard]): Unit = { assert(end.isEmpty); end = Some(children) }
    override def onError(failure: ServiceException): Unit = { assert(error.isEmpty); error = Some(failure) }

    def begin(): this.type = { ask(); service.last.accept(); scheduler.runDue(); this }
    def ask(): Unit = { publisher.request(1); scheduler.runDue() }
    def now(step: => Unit): Unit = { step; scheduler.runDue() }
    def current: service.Opened = service.last
    def numbers: Seq[Int] = batches.iterator.flatMap(_.records).map(_.sequenceNumber.toInt).toSeq

    /** Time until the next subscription was opened. */
    def untilNext(limit: FiniteDuration = 1.minute): FiniteDuration = {
      val before = service.opened.size
      val from = scheduler.nanoTime
      scheduler.advanceUntil(limit)(service.opened.size > before)
      (scheduler.nanoTime - from).nanos
    }
  }
}
