package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.service.Operation

/** Tests the delivery of records: demand, the pace of calls, the end of a shard, and cancel. */
class PollingRecordPublisherSuite extends PollingFixture {

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

  test("a response counts from its request, because it may be handled much later") {
    val f = new Reading
    val startMillis = f.scheduler.currentMillis
    f.begin().scheduler.advance(25.millis)
    // The iterator and the records take ten milliseconds each.
    assert(f.batches.map(_.sentMillis - startMillis).toSeq == Seq(10))
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
