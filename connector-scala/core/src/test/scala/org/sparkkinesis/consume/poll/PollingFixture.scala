package org.sparkkinesis.consume.poll

import scala.collection.mutable

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{FakeKinesis, RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event._
import org.sparkkinesis.model._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.suite.TimedSuite

/** The common part of the suites of the polling publisher: a reader of one shard on virtual time. */
abstract class PollingFixture extends TimedSuite {
  protected val Shard = StreamShard("orders", ShardId("shardId-000000000000"))
  protected val Name = Shard.shard.value
  protected val Children = Seq(ChildShard(ShardId("shardId-000000000001"), Seq(Shard.shard), HashKeyRange.Whole))

  protected class Reading(
      settings: PollingSettings = PollingSettings.of(Options.defaults),
      policies: RetryPolicies = RetryPolicies.of(Options.defaults),
      start: StartingPosition = StartingPosition.TrimHorizon,
      alwaysAsk: Boolean = true
  ) extends RecordSubscriber {
    val scheduler = new VirtualScheduler
    val service = new FakeKinesis(scheduler)
    val metrics = new ConsumerMetrics
    val events = new RecordedEvents
    val batches = mutable.ArrayBuffer.empty[RecordBatch]
    var end: Option[Seq[ChildShard]] = None
    var error: Option[ServiceException] = None
    lazy val publisher: RecordPublisher =
      new PollingPublisherFactory(
        _ => service,
        settings,
        policies,
        RetryRules.Default,
        scheduler,
        metrics,
        () => 0.5,
        listener = events
      ).subscribe(Shard, start, this)

    override def onBatch(batch: RecordBatch): Unit = {
      assert(end.isEmpty && error.isEmpty, "a batch after the end")
      batches += batch
      if (alwaysAsk) publisher.request(Long.MaxValue)
    }
    override def onShardEnd(children: Seq[ChildShard]): Unit = end = Some(children)
    override def onError(failure: ServiceException): Unit = error = Some(failure)

    def begin(): this.type = { publisher.request(Long.MaxValue); this }
    def texts: Seq[String] = batches.iterator.flatMap(_.records).map(record => new String(record.data, "UTF-8")).toSeq
  }
}
