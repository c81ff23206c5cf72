package org.sparkkinesis.sink

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.retry.RetryPolicy
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{NoRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.suite.TimedSuite

class AsyncSinkWriterSuite extends TimedSuite {
  private val settings = KinesisSinkSettings.of(Options.defaults).requests.copy(
    maxBatchSize = 3,
    maxBatchBytes = 100,
    maxTimeInBuffer = 1.second,
    maxInFlightRequests = 2,
    maxBufferedEntries = 9,
    maxBufferedBytes = 1000,
    requestTimeout = 30.seconds,
    deliveryTimeout = 10.minutes
  )
  private val throttled: Verdict = Retry(RetryCause.Throttled, "slow down")
  private val failed: Verdict = Retry(RetryCause.Failed, "try again")

  private class Rig(val settings: AsyncSinkSettings = settings, together: Boolean = false) {
    val time = new VirtualScheduler
    val destination = new WaitingDestination(together)
    val writer: AsyncSinkWriter[Item] = writerTo(destination, settings, time)
    def write(numbers: Int*): Unit = numbers.foreach(n => writer.write(Item(n)))

    /** Runs `body` on a separate thread. The future contains the exception that it threw, if any. */
    def elsewhere(body: => Unit): CompletableFuture[Option[Throwable]] = {
      val result = new CompletableFuture[Option[Throwable]]
      val thread = new Thread(() => {
        try { body; result.complete(None) }
        catch { case error: Throwable => result.complete(Some(error)) }
        ()
      })
      thread.setDaemon(true)
      thread.start()
      result
    }
  }

  private def writerTo(to: SinkDestination[Item], settings: AsyncSinkSettings, time: VirtualScheduler) =
    new AsyncSinkWriter[Item](
      to,
      new NoRateLimiting(RateLimitingContext(
        settings.maxBatchSize,
        settings.maxInFlightRequests,
        () => 1,
        1000
      )).open(),
      settings,
      settings.newBounds,
      time,
      () => 1.0
    )

  private def eventually(condition: => Boolean): Unit = {
    val deadline = System.nanoTime() + 10.seconds.toNanos
    while (!condition && System.nanoTime() < deadline) Thread.`yield`()
    assert(condition)
  }

  private def within[A](future: CompletableFuture[A]): A = future.get(10, TimeUnit.SECONDS)

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

  test("entries that are taken back are all that are not acknowledged, in the order of write") {
    val rig = new Rig
    rig.write(1, 2, 3, 4, 5, 6, 7, 8)
    rig.destination.requests(0).judge(item => if (item.n == 2) failed else Accepted)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3), Seq(4, 5, 6)))
    assert(rig.writer.takeBack().map(_.n) == Seq(2, 4, 5, 6, 7, 8))
    assert(rig.writer.metrics.possibleDuplicates == 3, "those in flight may be stored")
    assert(rig.destination.requests(1).cancels == 1)
    intercept[SinkClosedException](rig.write(9))
    assert(rig.writer.takeBack().isEmpty)
  }

  test("entries that the destination rejected permanently are taken back, too") {
    val rig = new Rig
    rig.write(1, 2, 3)
    rig.destination.last.judge(item => if (item.n == 2) Fatal(new IllegalStateException("gone")) else Accepted)
    intercept[FatalSinkException](rig.write(4))
    assert(rig.writer.takeBack().map(_.n) == Seq(2))
  }

  test("with a stall timeout the writer fails when nothing was accepted for that time, however often it was sent") {
    val rig = new Rig(settings.copy(stallTimeout = 5.seconds, requestTimeout = 1.second))
    rig.write(1, 2, 3)
    rig.time.advance(4900.millis)
    assert(rig.writer.failed.isEmpty && rig.destination.sent.size > 1)
    rig.time.advance(100.millis)
    assert(rig.writer.failed.exists(_.isInstanceOf[DestinationStalledException]))
    assert(rig.writer.takeBack().map(_.n) == Seq(1, 2, 3))
  }

  test("throttling and silence without requests are no stall") {
    val rig = new Rig(settings.copy(stallTimeout = 5.seconds))
    rig.write(1, 2, 3)
    rig.destination.last.accept()
    rig.time.advance(1.minute)
    assert(rig.writer.failed.isEmpty)
    rig.write(4, 5, 6)
    rig.time.advance(4.seconds)
    rig.destination.last.judge(_ => throttled)
    rig.time.advance(4.seconds)
    assert(rig.writer.failed.isEmpty)
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

  test("failed entries are sent again before later ones and in their order") {
    val rig = new Rig(settings.copy(maxInFlightRequests = 1))
    rig.write(1 to 7: _*)
    rig.destination.last.judge(item => if (item.n == 2) Accepted else failed)
    assert(rig.destination.sent.last == Seq(4, 5, 6))
    rig.time.advance(50.millis)
    rig.destination.last.accept()
    assert(rig.destination.sent.last == Seq(1, 3, 7))
  }

  test("the backoff of a throttled entry doubles up to the maximum") {
    val rig = new Rig(settings.copy(backoff = RetryPolicy(None, 100.millis, 400.millis, 2)))
    rig.write(1, 2, 3)
    val rests = (1 to 5).map { attempt =>
      rig.destination.last.judge(_ => throttled)
      var waited = 0.millis
      while (rig.destination.sent.size == attempt) {
        rig.time.advance(10.millis)
        waited += 10.millis
      }
      waited.toMillis
    }
    assert(rests == IndexedSeq(100L, 200L, 400L, 400L, 400L))
  }

  test("a fatal entry fails the writer: flush and every later call throw the error of the destination") {
    val rig = new Rig
    rig.write(1, 2, 3)
    rig.destination.last.judge(_ => Fatal(new RuntimeException("no such stream")))
    assert(intercept[FatalSinkException](rig.writer.flush()).getMessage == "no such stream")
    intercept[FatalSinkException](rig.write(4))
  }

  test("a failure wakes a blocked write and a flush in progress") {
    val rig = new Rig
    rig.write(1, 2, 3)
    val flush = rig.elsewhere(rig.writer.flush())
    rig.destination.awaitRequests(1)
    rig.destination.last.judge(_ => Fatal(new RuntimeException("gone")))
    assert(within(flush).exists(_.isInstanceOf[FatalSinkException]))
  }

  test("a destination that throws, fails its future, or returns too few verdicts fails the writer") {
    val faults = Seq[IndexedSeq[Item] => CompletableFuture[IndexedSeq[Verdict]]](
      _ => throw new IllegalArgumentException("thrown"),
      _ => CompletableFuture.failedFuture(new IllegalArgumentException("failed")),
      _ => CompletableFuture.completedFuture(IndexedSeq(Accepted))
    )
    faults.foreach { fault =>
      val broken = new SinkDestination[Item] {
        override def sizeOf(entry: Item): Int = 1
        override def send(batch: IndexedSeq[Item]): CompletableFuture[IndexedSeq[Verdict]] = fault(batch)
      }
      val writer = writerTo(broken, settings, new VirtualScheduler)
      (1 to 3).foreach(n => writer.write(Item(n)))
      intercept[FatalSinkException](writer.flush())
    }
  }

  test("an entry without remaining attempts fails the writer with the last reason; throttling is no attempt") {
    val rig = new Rig(settings.copy(maxRetries = 1))
    rig.write(1, 2, 3)
    def again(verdict: Verdict): Unit = { rig.destination.last.judge(_ => verdict); rig.time.advance(10.seconds) }
    (1 to 5).foreach(_ => again(throttled))
    again(failed)
    (1 to 5).foreach(_ => again(throttled))
    rig.destination.last.judge(_ => failed)
    assert(intercept[DeliveryFailedException](rig.writer.flush()).lastReason == "try again")

    val patient = new Rig(settings.copy(maxRetries = 0))
    patient.write(1, 2, 3)
    (1 to 5).foreach { _ => patient.destination.last.judge(_ => throttled); patient.time.advance(10.seconds) }
    assert(patient.destination.sent.size == 6)
  }

  test("an entry past its delivery timeout fails the writer, also if it was never sent") {
    val rig = new Rig(settings.copy(deliveryTimeout = 20.seconds))
    rig.write(1, 2, 3)
    (1 to 3).foreach { _ => rig.destination.last.judge(_ => failed); rig.time.advance(10.seconds) }
    intercept[DeliveryFailedException](rig.writer.flush())

    val stuck = new Rig(settings.copy(deliveryTimeout = 20.seconds))
    stuck.writer.write(Item(1, lane = new GateLane("shut") { openAt = Long.MaxValue }))
    stuck.time.advance(21.seconds)
    intercept[DeliveryFailedException](stuck.writer.flush())
  }

  test("with an infinite delivery timeout an entry is sent again until it is accepted") {
    val rig = new Rig(settings.copy(deliveryTimeout = Duration.Inf))
    rig.write(1, 2, 3)
    (1 to 200).foreach { _ => rig.destination.last.judge(_ => failed); rig.time.advance(10.minutes) }
    assert(rig.writer.failed.isEmpty)
    rig.destination.last.judge(_ => Accepted)
    rig.writer.flush()
    assert(rig.writer.metrics.entriesOut == 3)
  }

  test("a request that times out is cancelled and sent again when the destination has ended it") {
    val rig = new Rig
    rig.destination.endsOnCancel = false
    rig.write(1, 2, 3)
    rig.time.advance(5.minutes)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3)))
    assert(rig.destination.last.cancels == 1)
    rig.destination.last.judge(_ => Retry(RetryCause.Unanswered, "the connection was closed"))
    rig.time.advance(1.second)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3), Seq(1, 2, 3)))
    assert(rig.destination.unanswered.toSeq == Seq(3 -> 30.seconds))
    rig.destination.last.accept()
    val metrics = rig.writer.metrics
    assert((metrics.entriesOut, metrics.timedOutRequests, metrics.possibleDuplicates) == (3L, 1L, 3L))
  }

  test("a response that arrives during cancellation counts, and nothing is sent again") {
    val rig = new Rig
    rig.destination.endsOnCancel = false
    rig.write(1, 2, 3)
    rig.time.advance(31.seconds)
    rig.destination.last.accept()
    rig.time.advance(1.minute)
    assert(rig.destination.sent == Seq(Seq(1, 2, 3)))
    val metrics = rig.writer.metrics
    assert((metrics.entriesOut, metrics.lateSuccesses, metrics.possibleDuplicates) == (3L, 3L, 0L))
  }

  test("a request that never ends fails the writer after the delivery timeout") {
    val rig = new Rig(settings.copy(deliveryTimeout = 1.minute))
    rig.destination.endsOnCancel = false
    rig.write(1, 2, 3)
    rig.time.advance(61.seconds)
    intercept[DeliveryFailedException](rig.writer.flush())
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

  test("close drops unsent entries, leaves no timer, wakes a blocked write and ignores later responses") {
    val rig = new Rig
    rig.write(1 to 9: _*)
    val tenth = rig.elsewhere(rig.write(10))
    rig.writer.close()
    assert(within(tenth).exists(_.isInstanceOf[SinkClosedException]))
    assert(rig.time.pending == 0)
    rig.destination.requests.foreach(_.accept())
    assert(rig.destination.sent.size == 2)
    assert(rig.time.pending == 0)
    rig.writer.close()
    intercept[SinkClosedException](rig.writer.flush())
  }

  test("an interrupted write throws and releases the lock") {
    val rig = new Rig
    rig.write(1 to 9: _*)
    val started = new CountDownLatch(1)
    val ended = new CompletableFuture[Throwable]
    val thread = new Thread(() => {
      started.countDown()
      try rig.write(10)
      catch { case error: InterruptedException => ended.complete(error); () }
    })
    thread.start()
    started.await()
    thread.interrupt()
    assert(within(ended).isInstanceOf[InterruptedException])
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
    assert(threads == 1)
    first.close()
    first.close()
    assert(threads == 1)
    second.close()
    runner.get.join(10000)
    assert(threads == 0)
  }
}
