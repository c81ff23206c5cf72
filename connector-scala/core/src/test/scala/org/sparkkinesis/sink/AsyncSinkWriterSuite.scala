package org.sparkkinesis.sink

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.limit.{PacedLane, Permit, RateLimit, RequestOutcome}
import org.sparkkinesis.sink.writer.AsyncSinkWriter

class AsyncSinkWriterSuite extends SinkWriterTests {
  test("with sendWhenIdle an entry does not wait for its request to fill, unless a request is in flight") {
    val rig = new Rig(settings.copy(sendWhenIdle = true))
    rig.write(1)
    assert(rig.destination.sent == Seq(Seq(1)), "nothing was in flight")
    rig.write(2, 3)
    assert(rig.destination.sent == Seq(Seq(1)), "they wait for the answer")
    rig.destination.requests(0).accept()
    assert(rig.destination.sent == Seq(Seq(1), Seq(2, 3)))
    rig.write(4, 5, 6)
    assert(rig.destination.sent == Seq(Seq(1), Seq(2, 3), Seq(4, 5, 6)), "a full request does not wait")
  }

  test("a request is sent when a batch is full") {
    val rig = new Rig
    rig.write(1, 2)
    assert(rig.destination.sent == Seq.empty)
    rig.write(3, 4)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3)))
  }

  test("a request is sent at its byte limit and never exceeds it") {
    val rig = new Rig
    Seq(Item(1, 60), Item(2, 60), Item(3, 10)).foreach(rig.writer.write)
    assert(rig.destination.sent == Seq(Seq(1)))
    rig.time.advance(1.second)
    assert(rig.destination.sent == Seq(Seq(1), Seq(2, 3)))
  }

  test("an entry above the byte limit of a request is sent alone") {
    val rig = new Rig
    Seq(Item(1, 500), Item(2, 500)).foreach(rig.writer.write)
    assert(rig.destination.sent == Seq(Seq(1), Seq(2)))
  }

  test("an entry waits for its request to fill at most maxTimeInBuffer, with one timer") {
    val rig = new Rig
    rig.write(1)
    rig.time.advance(600.millis)
    rig.write(2)
    assert(rig.time.pending == 1)
    rig.time.advance(399.millis)
    assert(rig.destination.sent == Seq.empty)
    rig.time.advance(1.milli)
    assert(rig.destination.sent == Seq(Seq(1, 2)))
  }

  test("at most the allowed number of requests is in flight, and a response starts the next one") {
    val rig = new Rig
    rig.write(1 to 9: _*)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3), Seq(4, 5, 6)))
    rig.destination.requests.head.accept()
    assert(rig.destination.sent.last == Seq(7, 8, 9))
  }

  test("write blocks while the buffer is full and continues when an entry is accepted") {
    val rig = new Rig
    rig.write(1 to 9: _*)
    val tenth = rig.elsewhere(rig.write(10))
    assert(!tenth.isDone)
    rig.destination.requests.head.accept()
    assert(within(tenth) == None)
    assert(rig.writer.metrics.bufferedEntries + rig.writer.metrics.inFlightEntries == 7)
  }

  test("write also blocks at the byte limit, but accepts a larger entry if there is no other") {
    val rig = new Rig(settings.copy(maxBufferedBytes = 50))
    rig.writer.write(Item(1, 70))
    val second = rig.elsewhere(rig.writer.write(Item(2, 1)))
    rig.destination.awaitRequests(1)
    assert(!second.isDone)
    rig.destination.last.accept()
    assert(within(second) == None)
  }

  test("a blocked write sends the buffered entries without waiting for maxTimeInBuffer") {
    val rig = new Rig(settings.copy(maxBufferedEntries = 2))
    rig.write(1, 2)
    val third = rig.elsewhere(rig.write(3))
    rig.destination.awaitRequests(1)
    assert(rig.destination.sent == Seq(Seq(1, 2)))
    rig.destination.last.accept()
    assert(within(third) == None)
  }

  test("flush returns only when all entries are accepted, also after failures") {
    val rig = new Rig
    rig.write(1, 2)
    val flush = rig.elsewhere(rig.writer.flush())
    rig.destination.awaitRequests(1)
    rig.destination.last.judge(item => if (item.n == 1) failed else Accepted)
    // The response may be processed by the flushing thread only.
    eventually(rig.writer.metrics.retried == 1)
    assert(!flush.isDone)
    rig.time.advance(50.millis)
    rig.destination.awaitRequests(2)
    assert(rig.destination.sent.last == Seq(1))
    rig.destination.last.accept()
    assert(within(flush) == None)
    assert(rig.writer.metrics.unacknowledgedBytes == 0L)
  }

  test("metrics count an entry once, independently of its attempts") {
    val rig = new Rig
    rig.write(1, 2, 3)
    rig.destination.last.judge(item => if (item.n == 3) throttled else Accepted)
    rig.time.advance(1.second)
    rig.destination.last.accept()
    val metrics = rig.writer.metrics
    assert((metrics.entriesOut, metrics.bytesOut, metrics.entriesSent, metrics.requests) == (3L, 3L, 4L, 2L))
    assert((metrics.throttled, metrics.retried) == (1L, 1L))
  }

  test("a destination that responds synchronously does not grow the stack") {
    val prompt = new PromptDestination(_ => Accepted)
    val writer = writerTo(prompt, settings.copy(maxBatchSize = 1, maxBufferedEntries = 100000), new VirtualScheduler)
    (1 to 50000).foreach(n => writer.write(Item(n)))
    writer.flush()
    assert(prompt.sent.flatten.toSeq == (1 to 50000))
  }

  test("the shared timer's thread ends with its last holder") {
    def threads: Int = Thread.getAllStackTraces.keySet.asScala.count(_.getName.startsWith(SharedTimer.ThreadName))
    val first = SharedTimer.acquire()
    val second = SharedTimer.acquire()
    val ran = new CountDownLatch(1)
    val runner = new CompletableFuture[Thread]
    first.execute { () => runner.complete(Thread.currentThread()); ran.countDown() }
    assert(ran.await(10, TimeUnit.SECONDS))
    // The thread of an earlier suite's timer may still be ending.
    eventually(threads == 1)
    first.close()
    first.close()
    assert(threads == 1)
    second.close()
    runner.get.join(10000)
    assert(threads == 0)
  }

  /** Allows every request, and records the results that the writer reports. */
  final private class RecordingLimit extends RateLimit {
    val outcomes = mutable.ArrayBuffer.empty[RequestOutcome]
    override def maxBatchSize: Int = settings.maxBatchSize
    override def acquire(wanted: Int, nowNanos: Long): Permit = Permit.grant(wanted)
    override def settled(outcome: RequestOutcome, nowNanos: Long): Unit = outcomes += outcome
    override def currentLimit: Double = 0
    override def close(): Unit = ()
  }

  test("the strategy receives the throttled entries of each request, and how many of them a paced lane handles") {
    val (time, destination, limit) = (new VirtualScheduler, new WaitingDestination, new RecordingLimit)
    val writer = new AsyncSinkWriter[Item](destination, limit, settings, settings.newBounds, time, () => 1.0)
    val shard = new PacedLane(1000, 1 << 20)
    Seq(Item(1, lane = shard), Item(2, lane = shard), Item(3)).foreach(writer.write)
    assert(limit.outcomes.isEmpty, "the request has no response yet")
    destination.requests(0).judge(item => if (item.n == 1) Accepted else throttled)
    val first = limit.outcomes(0)
    assert((first.sent, first.accepted, first.throttled, first.paced, first.failed) == ((3, 1, 2, 1, 0)))
    assert(shard.currentScale == 1)
    time.advance(10.seconds)
    assert(destination.sent.drop(1).flatten.toSet == Set(2, 3))
    destination.requests.drop(1).foreach(_.judge(_ => throttled))
    val again = limit.outcomes.drop(1)
    assert((again.map(_.accepted).sum, again.map(_.throttled).sum, again.map(_.paced).sum) == ((0, 2, 1)))
    writer.close()
  }
}
