package org.sparkkinesis.consume.poll

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{FakeKinesis, MissingResource, RecordBatch, RecordPublisher, RecordSubscriber}
import org.sparkkinesis.event._
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.retry.{Outages, RetryPolicies, RetryRules}
import org.sparkkinesis.service.{Operation, RecordPage, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class PollingRecordPublisherSuite extends TimedSuite {

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

  private val Shard = StreamShard("orders", ShardId("shardId-000000000000"))
  private val Name = Shard.shard.value
  private val Children = Seq(ChildShard(ShardId("shardId-000000000001"), Seq(Shard.shard), HashKeyRange.Whole))

  private class Reading(
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

  test("every record of many responses is delivered once and in order") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch = 7))
    val all = (1 to 50).map(_.toString)
    f.service.put(Name, all: _*)
    f.begin().scheduler.advance(10.seconds)
    assert(f.texts == all)
  }

  test("nothing is fetched without demand, and each request delivers one batch") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch = 2), alwaysAsk = false)
    f.service.put(Name, "a", "b", "c")
    f.publisher
    f.scheduler.advance(5.seconds)
    assert(f.service.calls.size == 0)
    f.begin().scheduler.advance(5.seconds)
    assert(f.texts == Seq("a", "b"))
    assert(f.service.callsOf(Operation.GetRecords).size == 1)
    f.begin().scheduler.advance(5.seconds)
    assert(f.texts == Seq("a", "b", "c"))
  }

  test("at the tip of a shard it fetches once per minFetchPeriod") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(minFetchPeriod = 400.millis)).begin()
    f.scheduler.advance(10.seconds)
    val times = f.service.callsOf(Operation.GetRecords)
    assert(times.size == 25)
    assert(times.lazyZip(times.tail).forall((a, b) => b - a >= 400.millis.toNanos))
  }

  test("with a backlog it makes at most five calls in any second") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch = 1))
    f.service.put(Name, (1 to 100).map(_.toString): _*)
    f.begin().scheduler.advance(15.seconds)
    val times = f.service.callsOf(Operation.GetRecords)
    assert(times.size > 60, times.size)
    assert(times.lazyZip(times.drop(5)).forall((a, b) => b - a >= 1.second.toNanos))
  }

  test("the limit adapts to the record size, so that a backlog is read at 2 MiB per second without pauses") {
    val f = new Reading
    val record = new Array[Byte](4 * 1024)
    (1 to 10000).foreach(_ => f.service.put(Name, record))
    f.begin().scheduler.advance(10.seconds)
    val perSecond = f.batches.iterator.flatMap(_.records).map(_.size.toLong).sum / 10.0
    assert(perSecond <= 2.0 * 1024 * 1024 * 1.02, perSecond)
    assert(perSecond >= 2.0 * 1024 * 1024 * 0.9, perSecond)
    assert(f.service.limits.last == 102)
  }

  test("after a response of 10 MiB it makes no call for five seconds") {
    val f = new Reading
    (1 to 3).foreach(_ => f.service.put(Name, new Array[Byte](10 * 1024 * 1024 - 3)))
    f.begin().scheduler.advance(11.seconds)
    val times = f.service.callsOf(Operation.GetRecords)
    assert(times.size == 3)
    assert(times.lazyZip(times.tail).forall((a, b) => b - a >= 5.seconds.toNanos), times)
  }

  test("once the record size is known, a response is not larger than the granted space") {
    val f = new Reading(alwaysAsk = false)
    (1 to 1000).foreach(_ => f.service.put(Name, new Array[Byte](1021)))
    f.begin().scheduler.advance(1.second)
    f.publisher.request(10 * 1024)
    f.scheduler.advance(1.second)
    assert(f.service.limits.last == 10)
  }

  test("an expired iterator is renewed after the last delivered record without loss or duplicates") {
    val f = new Reading(PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch = 2))
    val numbers = f.service.put(Name, "a", "b", "c", "d")
    f.begin().scheduler.advanceUntil(5.seconds)(f.batches.nonEmpty)
    f.service.expireIterators()
    f.scheduler.advance(5.seconds)
    assert(f.texts == Seq("a", "b", "c", "d"))
    assert(f.service.positions.contains(StartingPosition.AfterSequenceNumber(numbers(1))))
    assert(f.metrics.iteratorRenewals.sum == 1L)
  }

  test("events report iterators, throttling, retries, and the start and end of an outage") {
    val f = new Reading
    f.service.fail(Operation.GetRecords, ServiceErrorKind.Throttled +: Seq.fill(5)(ServiceErrorKind.Internal): _*)
    f.service.put(Name, "a")
    f.begin().scheduler.advance(1.minute)
    assert(f.texts == Seq("a"))
    assert(f.events.of[IteratorRequested] == Vector(IteratorRequested(Shard, StartingPosition.TrimHorizon)))
    assert(f.events.of[CallThrottled] == Vector(CallThrottled("orders", Some(Shard.shard), "GetRecords")))
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

  test("the end of a closed shard is reported with its children after its last record") {
    val f = new Reading
    f.service.put(Name, "a", "b")
    f.service.close(Name, Children: _*)
    f.begin().scheduler.advance(2.seconds)
    assert(f.texts == Seq("a", "b"))
    assert(f.end == Some(Children))
    assert(f.scheduler.pending == 0)
  }

  test("an end without children is requested again before it is accepted, and nothing is delivered twice") {
    val f = new Reading
    f.service.put(Name, "a", "b")
    f.service.close(Name)
    f.begin().scheduler.advance(10.seconds)
    assert(f.texts == Seq("a", "b"))
    assert(f.end == Some(Nil))
    assert(f.service.callsOf(Operation.GetRecords).size == 4)
  }

  test("after cancel no call is made and nothing is reported") {
    val f = new Reading
    f.service.put(Name, "a")
    f.begin().publisher.cancel()
    f.scheduler.advance(10.seconds)
    assert(f.batches.size == 0)
    assert(f.service.calls.size <= 1)
    assert(f.scheduler.pending == 0)
  }
}
