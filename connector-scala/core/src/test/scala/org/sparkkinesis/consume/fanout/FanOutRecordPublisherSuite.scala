package org.sparkkinesis.consume.fanout

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.SystemScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event._
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException, SubscribeToShardEvent}

/** Tests the delivery of records: demand, renewed subscriptions, the end of a shard, and cancel. */
class FanOutRecordPublisherSuite extends FanOutFixture {

  test("events are delivered as batches and requested while there is demand") {
    val r = new Reading().begin()
    assert(r.current.position == Start)
    r.now(r.current.records(5, 101, 102))
    r.now(r.current.records(0, 103))
    assert(r.numbers == Seq(101, 102, 103))
    assert(r.batches.map(_.millisBehindLatest).toSeq == Seq(5L, 0L))
    assert(r.current.requested - r.current.delivered == 2L)
  }

  test("an event that may have waited in a buffer counts from the last one that has not") {
    val r = new Reading().begin()
    val startMillis = r.scheduler.currentMillis
    def give(after: FiniteDuration) = {
      r.scheduler.advance(after)
      r.now(r.current.records(0, 101 + r.batches.size))
    }
    Seq(Duration.Zero, 5.seconds, Duration.Zero, 20.seconds, 5.seconds).foreach(give)
    assert(r.batches.map(_.sentMillis - startMillis).toSeq == Seq(0, 5000, 5000, 5000, 30000))
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
      r.current.give(SubscribeToShardEvent(IndexedSeq(large(number)), Some(Events.number(number)), 5, Nil))
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

  test("an event with repeated records only does not count as one without records") {
    val r = new Reading().begin()
    r.now(r.current.records(5, 101, 102))
    r.now(r.current.fail(ServiceErrorKind.Network))
    r.untilNext()
    r.now(r.current.accept())
    r.now(r.current.records(0, 101, 102))
    r.now(r.current.idle(102))
    assert(r.batches.map(batch => (batch.records.size, batch.hadRecords)) == Seq((2, true), (0, true), (0, false)))
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
