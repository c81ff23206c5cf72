package org.sparkkinesis.consume.fanout

import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.MissingResource
import org.sparkkinesis.event._
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.retry.{Outages, RetryPolicies}
import org.sparkkinesis.service.{Operation, ServiceErrorKind}

/** Tests failing, silent and stalled subscriptions: retries, pauses, events, and the errors that end publishing. */
class FanOutRecoverySuite extends FanOutFixture {

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
      SubscriptionTakenOver(Shard, 1),
      SubscriptionLost(Shard, 1, reason.head)
    ))
  }

  test("takeovers are counted until a subscription completes normally") {
    val r = new Reading().begin()
    def takeOver(): Unit = {
      r.now(r.current.fail(ServiceErrorKind.ResourceInUse))
      r.untilNext()
      r.now(r.current.accept())
    }
    takeOver()
    takeOver()
    r.now(r.current.records(5, 101))
    r.now(r.current.complete())
    r.untilNext()
    r.now(r.current.accept())
    takeOver()
    assert(r.events.of[SubscriptionTakenOver].map(_.times) == Vector(1, 2, 1))
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
}
