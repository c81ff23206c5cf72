package org.sparkkinesis.consume.fanout

import java.util.concurrent.CountDownLatch

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{SystemScheduler, VirtualScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{MissingResource, RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event._
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{Outages, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, ShardEvent}
import org.sparkkinesis.suite.TimedSuite

class FanOutRecordPublisherSuite extends TimedSuite {
  private val Shard = StreamShard("orders", ShardId("shardId-000000000000"))
  private val Children = Seq(ChildShard(ShardId("shardId-000000000001"), Seq(Shard.shard), HashKeyRange.Whole))
  private val Start = AfterSequenceNumber(Events.number(100))

  private class Reading(
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

  test("events are delivered as batches and requested while there is demand") {
    val r = new Reading().begin()
    assert(r.current.position == Start)
    r.now(r.current.records(5, 101, 102))
    r.now(r.current.records(0, 103))
    assert(r.numbers == Seq(101, 102, 103))
    assert(r.batches.map(_.millisBehindLatest).toSeq == Seq(5L, 0L))
    assert(r.current.requested - r.current.delivered == 2L)
  }

  test("without demand no subscription is opened") {
    val r = new Reading
    r.scheduler.advance(1.hour)
    assert(r.service.opened.size == 0)
  }

  test("without demand no further events are requested, and an event in flight waits") {
    val r = new Reading
    r.isHungry = false
    r.begin()
    r.now(r.current.records(5, 101))
    r.ask()
    r.now(r.current.records(5, 102))
    r.now(r.current.records(5, 103))
    assert(r.numbers == Seq(101, 102))
    assert(r.current.requested == 3L)
    r.ask()
    assert(r.numbers == Seq(101, 102, 103))
    assert(r.current.requested == 3L)
    r.ask()
    assert(r.current.requested == 5L)
  }

  test(
    "an additional event is requested only if there is room for another like the last one, not before the first"
  ) {
    val r = new Reading
    r.isHungry = false
    def large(number: Int) =
      new KinesisRecord(number.toString, "k", number.toLong, new Array[Byte](1000), null)
    def give(number: Int) =
      r.current.give(ShardEvent(IndexedSeq(large(number)), Some(Events.number(number)), 5, Nil))
    def requested(allowed: Long): Long = {
      val before = r.current.requested
      r.now(r.publisher.request(allowed))
      r.current.requested - before
    }
    r.now(r.publisher.request(1L << 30))
    r.now(r.current.accept())
    assert(r.current.requested == 1L)
    r.now(give(101))
    assert(requested(1000) == 1L)
    r.now(give(102))
    assert(requested(2000) == 2L)
    r.now(give(103))
    r.now(give(104))
    assert(r.numbers == Seq(101, 102, 103))
  }

  test("after five minutes the next subscription starts immediately at the continuation, every time") {
    val r = new Reading().begin()
    for (round <- 1 to 10) {
      r.now(r.current.records(5, 100 + round))
      r.scheduler.advance(4.seconds)
      for (_ <- 1 to 59) {
        r.now(r.current.idle(100 + round))
        r.scheduler.advance(5.seconds)
      }
      r.now(r.current.complete())
      r.scheduler.runDue()
      assert(r.service.opened.size == round + 1)
      assert(r.current.position == AfterSequenceNumber(Events.number(100 + round)))
      r.now(r.current.accept())
    }
    assert(r.numbers == (101 to 110).toSeq)
    assert(r.error == None)
    assert(r.metrics.retries.sum == 0L)
  }

  test("the next subscription starts at the continuation, also if it is after the last record") {
    val r = new Reading().begin()
    r.now(r.current.records(5, 101))
    r.now(r.current.idle(150))
    r.scheduler.advance(10.seconds)
    r.now(r.current.complete())
    assert(r.current.position == AfterSequenceNumber(Events.number(150)))
  }

  test("a completed subscription does not end the shard") {
    val r = new Reading().begin()
    r.now(r.current.records(0, 101))
    r.now(r.current.complete())
    r.scheduler.advance(10.seconds)
    assert(r.end == None)
    assert(r.service.opened.size == 2)
  }

  test("a subscription that fails within five seconds is not opened again before the service accepts it") {
    val r = new Reading().begin()
    r.now(r.current.records(0, 101))
    r.scheduler.advance(1.second)
    r.now(r.current.complete())
    assert(r.untilNext() == 4.seconds)
  }

  test("events report that a subscription is requested, opened, renewed after five minutes, lost and taken over") {
    val r = new Reading().begin()
    r.now(r.current.records(5, 101))
    (1 to 60).foreach { _ =>
      r.scheduler.advance(5.seconds)
      r.now(r.current.idle(101))
    }
    r.now(r.current.complete())
    r.now(r.current.accept())
    r.now(r.current.fail(ServiceErrorKind.ResourceInUse))
    val requested = Seq(Start, AfterSequenceNumber(Events.number(101))).map(SubscriptionRequested(Shard, _))
    val reason = r.events.of[SubscriptionLost].map(_.reason)
    assert(reason.forall(_.contains("ResourceInUse")))
    assert(r.events.all == Vector(
      requested.head,
      SubscriptionOpened(Shard),
      SubscriptionRenewed(Shard, 300000),
      requested.last,
      SubscriptionOpened(Shard),
      SubscriptionTakenOver(Shard),
      SubscriptionLost(Shard, 1, reason.head)
    ))
  }

  test("an outage is reported when it begins and when an event arrives again") {
    val r = new Reading().begin()
    (1 to Outages.Notable).foreach { _ =>
      r.now(r.current.fail(ServiceErrorKind.Internal))
      r.untilNext()
    }
    assert(r.events.of[OutageBegan].map(_.failures) == Vector(Outages.Notable))
    r.now(r.current.accept())
    assert(r.events.of[OutageEnded].isEmpty)
    r.now(r.current.records(5, 101))
    assert(r.events.of[OutageEnded].map(_.shards) == Vector(1))
  }

  test("a subscription to a consumer in use is retried after at least five seconds with jitter") {
    val r = new Reading()
    r.ask()
    r.now(r.current.fail(ServiceErrorKind.ResourceInUse))
    assert(r.untilNext() == 5500.millis)
  }

  for (
    kind <- Seq(
      ServiceErrorKind.LimitExceeded,
      ServiceErrorKind.Internal,
      ServiceErrorKind.Network,
      ServiceErrorKind.Throttled
    )
  )
    test(
      s"after $kind the next subscription starts at the last received record after at least one second with jitter"
    ) {
      val r = new Reading().begin()
      r.now(r.current.records(5, 101, 102))
      r.scheduler.advance(10.seconds)
      val pauses = for (_ <- 1 to 4) yield {
        r.now(r.current.fail(kind))
        r.untilNext()
      }
      assert(pauses.map(_.toMillis) == Seq(1500L, 1750L, 2000L, 2000L))
      assert(r.current.position == AfterSequenceNumber(Events.number(102)))
      assert(r.error == None)
    }

  test("retries end at the limit of the policy, and an event resets the count") {
    val five = RetryPolicies.of(Options.read(Map("retry.subscribeToShard.maxRetries" -> "5")))
    val r = new Reading(five).begin()
    for (_ <- 1 to 4) {
      r.now(r.current.fail(ServiceErrorKind.Internal))
      r.untilNext()
    }
    r.now(r.current.accept())
    r.now(r.current.records(5, 101))
    for (_ <- 1 to 5) {
      r.now(r.current.fail(ServiceErrorKind.Internal))
      r.untilNext()
    }
    assert(r.error == None)
    r.now(r.current.fail(ServiceErrorKind.Internal))
    assert(r.error.map(_.kind) == Some(ServiceErrorKind.Internal))
    assert(r.scheduler.pending == 0)
  }

  for (
    kind <- Seq(
      ServiceErrorKind.AccessDenied,
      ServiceErrorKind.InvalidArgument,
      ServiceErrorKind.Encryption,
      ServiceErrorKind.Client
    )
  )
    test(s"$kind ends publishing and is reported once") {
      val r = new Reading
      r.ask()
      r.now(r.current.fail(kind))
      r.scheduler.advance(1.hour)
      assert(r.error.map(_.kind) == Some(kind))
      assert(r.service.opened.size == 1)
      assert(r.scheduler.pending == 0)
    }

  test("publishing survives an outage of a day from the first subscription on, at the maximum backoff") {
    val r = new Reading
    r.ask()
    val day = r.scheduler.nanoTime + 1.day.toNanos
    while (r.scheduler.nanoTime < day) {
      r.now(r.current.fail(ServiceErrorKind.Network))
      assert(r.untilNext() <= 3.seconds)
    }
    assert((r.error, r.current.position) == (None, Start))
    r.now(r.current.accept())
    r.now(r.current.records(5, 101))
    assert(r.numbers == Seq(101))
    assert(r.metrics.retries.sum == r.service.opened.size - 1L)
  }

  test(
    "while the missing resource of a ResourceNotFound is unknown, the question is repeated and the shard does not end"
  ) {
    val r = new Reading().begin()
    r.service.fail(Operation.DescribeStreamSummary, ServiceErrorKind.LimitExceeded)
    r.current.fail(ServiceErrorKind.ResourceNotFound)
    r.untilNext()
    assert(r.error == None)
    r.service.fail(Operation.DescribeStreamConsumer, ServiceErrorKind.ResourceNotFound)
    r.current.fail(ServiceErrorKind.ResourceNotFound)
    r.scheduler.advance(1.second)
    assert(r.error.flatMap(MissingResource.of) == Some(MissingResource.Consumer))
  }

  private val missing: Seq[(MissingResource, Seq[Operation])] = Seq(
    MissingResource.Shard -> Nil,
    MissingResource.Consumer -> Seq(Operation.DescribeStreamConsumer),
    MissingResource.Stream -> Seq(Operation.DescribeStreamSummary, Operation.DescribeStreamConsumer)
  )
  for ((what, gone) <- missing)
    test(s"a ResourceNotFound of the $what is reported as such and does not end the shard") {
      val r = new Reading().begin()
      gone.foreach(r.service.fail(_, ServiceErrorKind.ResourceNotFound))
      r.current.fail(ServiceErrorKind.ResourceNotFound)
      r.scheduler.advance(1.second)
      assert(r.error.flatMap(MissingResource.of) == Some(what))
      assert(r.end == None)
    }

  test("an event with children ends the shard after its records, and no subscription is opened afterwards") {
    val r = new Reading().begin()
    r.now(r.current.end(Children, 101))
    assert(r.numbers == Seq(101))
    assert(r.end == Some(Children))
    assert(r.current.requested > r.current.delivered, "the completion of the subscription must be received")
    r.now(r.current.complete())
    r.scheduler.advance(1.hour)
    assert(r.service.opened.size == 1)
    assert(r.scheduler.pending == 0)
  }

  test("records in the last event wait for demand, and the end is reported after them") {
    val r = new Reading
    r.isHungry = false
    r.begin()
    r.now(r.current.records(0, 100))
    r.ask()
    r.now(r.current.records(0, 101))
    r.now(r.current.end(Children, 102))
    r.now(r.current.complete())
    r.scheduler.advance(1.hour)
    assert((r.numbers, r.end) == (Seq(100, 101), None))
    r.ask()
    assert((r.numbers, r.end) == (Seq(100, 101, 102), Some(Children)))
    assert(r.service.opened.size == 1)
  }

  test("an end without children is requested again before it is accepted, and nothing is delivered twice") {
    val r = new Reading().begin()
    r.now(r.current.end(Nil, 101))
    for (_ <- 1 to 3) {
      assert(r.end == None)
      r.untilNext()
      r.now(r.current.accept())
      r.now(r.current.end(Nil))
    }
    assert((r.numbers, r.end) == (Seq(101), Some(Nil)))
  }

  test("callbacks of an older subscription are dropped") {
    val r = new Reading().begin()
    val old = r.current
    r.now(old.records(5, 101))
    r.now(old.fail(ServiceErrorKind.Network))
    old.subscriber.onEvent(Events.of(5, 102))
    r.untilNext()
    assert(old.cancelled)
    r.now(r.current.accept())
    r.now {
      old.subscriber.onEvent(Events.of(5, 102))
      old.subscriber.onEvent(Events.of(5, 500))
      old.subscriber.onError(new ServiceException(
        ServiceErrorKind.AccessDenied,
        Operation.SubscribeToShard,
        "x",
        "late"
      ))
      old.subscriber.onComplete()
      old.subscriber.onSubscribed()
    }
    r.now(r.current.records(5, 102))
    assert(r.numbers == Seq(101, 102))
    assert((r.error, r.service.opened.size) == (None, 2))
  }

  test("repeated records of a new subscription are not delivered again") {
    val r = new Reading().begin()
    r.now(r.current.records(5, 101, 102))
    r.now(r.current.fail(ServiceErrorKind.Network))
    r.untilNext()
    r.now(r.current.accept())
    r.now(r.current.records(5, 101, 102, 103))
    assert(r.numbers == Seq(101, 102, 103))
  }

  test("a silent subscription is replaced, also before its first response") {
    val r = new Reading
    r.ask()
    val first = r.current
    assert(r.untilNext() >= 35.seconds)
    assert(first.cancelled)
    r.now(r.current.accept())
    r.now(r.current.records(5, 101))
    val second = r.current
    val silence = r.untilNext()
    assert(silence >= 35.seconds && silence <= 40.seconds, silence)
    assert(second.cancelled)
    assert(r.current.position == AfterSequenceNumber(Events.number(101)))
  }

  test("empty events of an idle shard keep its subscription open") {
    val r = new Reading().begin()
    for (_ <- 1 to 60) {
      r.now(r.current.idle(100))
      r.scheduler.advance(5.seconds)
    }
    assert(r.service.opened.size == 1)
  }

  test("a subscription without demand is not silent, and continues at the last record when there is demand") {
    val r = new Reading
    r.isHungry = false
    r.begin()
    r.now(r.current.records(5, 101))
    r.ask()
    r.now(r.current.records(5, 102))
    r.now(r.current.records(5, 103))
    r.scheduler.advance(4.minutes)
    assert(r.service.opened.size == 1)
    r.ask()
    r.ask()
    r.now(r.current.records(5, 104))
    assert(r.numbers == Seq(101, 102, 103, 104))
  }

  test(
    "a subscription that ends without demand is opened again only when there is demand, and such ends are no failures"
  ) {
    val r = new Reading
    r.isHungry = false
    r.begin()
    r.now(r.current.records(5, 100))
    r.ask()
    for (i <- 1 to 20) {
      r.now(r.current.records(5, 100 + 2 * i - 1))
      r.now(r.current.records(5, 100 + 2 * i))
      r.scheduler.advance(6.minutes)
      val opened = r.service.opened.size
      r.now(if (i % 2 == 0) r.current.fail(ServiceErrorKind.Network) else r.current.complete())
      r.scheduler.advance(6.minutes)
      assert(r.service.opened.size == opened)
      r.ask()
      r.ask()
      assert(r.service.opened.size == opened + 1)
      r.now(r.current.accept())
    }
    assert(r.numbers == (100 to 140).toSeq)
    assert(r.error == None)
  }

  test("a subscription that completes immediately without an event is not opened again without a pause") {
    val r = new Reading().begin()
    r.now(r.current.complete())
    assert(r.untilNext() >= 5.seconds)
  }

  test("cancel ends the subscription, and nothing is reported afterwards") {
    val r = new Reading().begin()
    r.now(r.publisher.cancel())
    assert(r.current.cancelled)
    r.now(r.current.subscriber.onEvent(Events.of(0, 101)))
    r.now(r.current.subscriber.onComplete())
    r.scheduler.advance(1.hour)
    assert((r.batches.size, r.service.opened.size, r.scheduler.pending) == (0, 1, 0))
  }

  test("cancel ends the subscription also if the scheduler is closed right after it") {
    val scheduler = new SystemScheduler("closed-after-cancel", 1)
    val service = new FakeSubscriptions(scheduler)
    val publisher = new FanOutPublisherFactory(
      _ => service,
      _ => "consumer-arn",
      FanOutSettings.Standard,
      RetryPolicies.of(Options.defaults),
      RetryRules.Default,
      scheduler,
      new ConsumerMetrics
    ).subscribe(Shard, Start, new Reading)
    publisher.request(1)
    // When the reader stops, the only thread of the scheduler is busy, as it may be with another shard.
    val (busy, goOn) = (new CountDownLatch(1), new CountDownLatch(1))
    scheduler.execute { () =>
      busy.countDown()
      goOn.await()
    }
    busy.await()
    publisher.cancel()
    scheduler.close()
    goOn.countDown()
    assert(scheduler.awaitTermination(20.seconds))
    assert(service.last.cancelled)
  }
}
