package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.MissingResource
import org.sparkkinesis.event._
import org.sparkkinesis.model._
import org.sparkkinesis.retry.{Outages, RetryPolicies}
import org.sparkkinesis.service.{Operation, ServiceErrorKind}

/** Tests failing calls and expired iterators: retries, pauses, events, and the errors that end publishing. */
class PollingRecoverySuite extends PollingFixture {

  test("an expired iterator is renewed after the last delivered record without loss or duplicates") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch = 2))
    val numbers = f.service.put(Name, "a", "b", "c", "d")
    f.begin().scheduler.advanceUntil(5.seconds)(f.batches.nonEmpty)
    f.service.expireIterators()
    f.scheduler.advance(5.seconds)
    assert(f.texts == Seq("a", "b", "c", "d"))
    assert(f.service.positions.contains(StartingPosition.AfterSequenceNumber(numbers(1))))
    assert(f.metrics.iteratorRenewals.sum == 1L)
    assert(f.events.of[IteratorRenewed].map(_.of) == Vector(Shard))
  }

  test("events report iterators, throttling, retries, and the start and end of an outage") {
    val f = new Reading
    f.service.fail(Operation.GetRecords, ServiceErrorKind.Throttled +: Seq.fill(5)(ServiceErrorKind.Internal): _*)
    f.service.put(Name, "a")
    f.begin().scheduler.advance(1.minute)
    assert(f.texts == Seq("a"))
    assert(f.events.of[IteratorRequested] == Vector(IteratorRequested(Shard, StartingPosition.TrimHorizon)))
    assert(f.events.of[CallThrottled] == Vector(CallThrottled("orders", Some(Shard.shard), Operation.GetRecords)))
    assert(f.events.of[CallRetried].map(_.failures) == (1 to 6))
    assert(f.events.of[OutageBegan].map(_.failures) == Vector(Outages.Notable))
    assert(f.events.of[OutageEnded].map(_.shards) == Vector(1))
    assert(f.metrics.snapshot.filter(Set("throttles", "retries") contains _._1) ==
      Map("throttles" -> 1, "retries" -> 6))
  }

  test("an InvalidArgument for an iterator leads to a new iterator a limited number of times") {
    val f = new Reading
    f.service.put(Name, "a")
    f.service.fail(Operation.GetRecords, ServiceErrorKind.InvalidArgument)
    f.begin().scheduler.advance(2.seconds)
    assert(f.texts == Seq("a"))
    f.service.fail(Operation.GetRecords, Seq.fill(10)(ServiceErrorKind.InvalidArgument): _*)
    f.scheduler.advance(10.seconds)
    assert(f.error.map(_.kind) == Some(ServiceErrorKind.InvalidArgument))
  }

  test("iterators that expire repeatedly are renewed without limit and with growing pauses") {
    val f = new Reading
    f.service.put(Name, "a")
    f.service.fail(Operation.GetRecords, Seq.fill(12)(ServiceErrorKind.ExpiredIterator): _*)
    f.begin().scheduler.advanceUntil(60.seconds)(f.batches.nonEmpty)
    assert(f.texts == Seq("a"))
    assert(f.error == None)
    assert(f.metrics.iteratorRenewals.sum == 12L)
    val times = f.service.callsOf(Operation.GetRecords)
    assert(times(11) - times(10) >= 1.second.toNanos, times)
  }

  test("a renewed iterator of a reader that started at LATEST does not skip records") {
    val f = new Reading(start = StartingPosition.Latest)
    f.service.put(Name, "before")
    f.begin().scheduler.advance(1.second)
    f.service.put(Name, "between")
    f.service.expireIterators()
    f.scheduler.advance(2.seconds)
    assert(f.texts == Seq("between"))
  }

  for (kind <- Seq(ServiceErrorKind.Throttled, ServiceErrorKind.Internal, ServiceErrorKind.Network))
    test(s"$kind is retried without limit, with pauses of up to three seconds") {
      val f = new Reading
      f.service.put(Name, "a")
      f.service.fail(Operation.GetShardIterator, Seq.fill(3)(kind): _*)
      f.service.fail(Operation.GetRecords, Seq.fill(30)(kind): _*)
      f.begin().scheduler.advance(2.minutes)
      assert(f.texts == Seq("a"))
      assert(f.error == None)
      val times = f.service.callsOf(Operation.GetRecords).take(31)
      val gaps = times.lazyZip(times.tail).map((a, b) => (b - a).nanos.toMillis)
      assert(gaps.max <= 1500 + 10 + 200, gaps)
      assert(gaps.drop(10).min >= 1500, gaps)
    }

  test("after throttling the pause is at least one call period") {
    val f = new Reading
    f.service.fail(Operation.GetRecords, ServiceErrorKind.Throttled)
    f.begin().scheduler.advance(1.second)
    val times = f.service.callsOf(Operation.GetRecords)
    assert(times(1) - times.head >= 200.millis.toNanos)
    assert(f.metrics.throttles.sum == 1L)
    assert(f.metrics.pollingSlowdown > 1 && f.metrics.mostThrottled.map(_.calls) == Seq(1L))
  }

  for (
    kind <- Seq(
      ServiceErrorKind.AccessDenied,
      ServiceErrorKind.Encryption,
      ServiceErrorKind.Client
    )
  )
    test(s"$kind ends publishing immediately and is reported once") {
      val f = new Reading
      f.service.fail(Operation.GetShardIterator, kind)
      f.begin().scheduler.advance(1.minute)
      assert(f.error.map(_.kind) == Some(kind))
      assert(f.service.calls.size == 1)
      assert(f.scheduler.pending == 0)
    }

  test("a missing shard and a missing stream are distinguished") {
    val shardGone = new Reading
    shardGone.service.fail(Operation.GetShardIterator, ServiceErrorKind.ResourceNotFound)
    shardGone.begin().scheduler.advance(1.minute)
    assert(shardGone.error.flatMap(MissingResource.of) == Some(MissingResource.Shard))
    val streamGone = new Reading
    streamGone.service.fail(Operation.GetShardIterator, ServiceErrorKind.ResourceNotFound)
    streamGone.service.fail(Operation.DescribeStreamSummary, ServiceErrorKind.ResourceNotFound)
    streamGone.begin().scheduler.advance(1.minute)
    assert(streamGone.error.flatMap(MissingResource.of) == Some(MissingResource.Stream))
  }

  test("while it is unknown whether the stream exists, the question is repeated and the shard does not end") {
    val f = new Reading
    f.service.put(Name, "a")
    f.service.fail(Operation.GetShardIterator, ServiceErrorKind.ResourceNotFound)
    f.service.fail(Operation.DescribeStreamSummary, ServiceErrorKind.LimitExceeded)
    f.begin().scheduler.advance(1.minute)
    assert((f.error, f.texts) == (None, Seq("a")))
  }

  test("publishing survives an outage of a day of any operation") {
    for (operation <- Seq(Operation.GetShardIterator, Operation.GetRecords)) {
      val f = new Reading
      f.service.put(Name, "a")
      f.service.fail(operation, Seq.fill(50000)(ServiceErrorKind.Network): _*)
      f.begin().scheduler.advance(1.day)
      assert((f.error, f.texts) == (None, Seq("a")))
    }
  }

  test("retries end at the limit of the policy") {
    val few = RetryPolicies.of(Options.read(Map("retry.getRecords.maxRetries" -> "2")))
    val f = new Reading(policies = few)
    f.service.fail(Operation.GetRecords, Seq.fill(5)(ServiceErrorKind.Internal): _*)
    f.begin().scheduler.advance(1.minute)
    assert(f.error.map(_.kind) == Some(ServiceErrorKind.Internal))
    assert(f.service.callsOf(Operation.GetRecords).size == 3)
  }
}
