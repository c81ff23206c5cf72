package org.sparkkinesis.sink

import java.util.concurrent.{CompletableFuture, CountDownLatch}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.retry.RetryPolicy
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.limit.Lane
import org.sparkkinesis.sink.writer.{Pending, Request}

class SinkWriterFailuresSuite extends SinkWriterTests {
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

  test("a destination that accepts entries slowly fails no writer, however long an entry waits") {
    val rig = new Rig(settings.copy(deliveryTimeout = 20.seconds, maxBatchSize = 1, maxInFlightRequests = 1))
    rig.write(1 to 9: _*)
    (1 to 9).foreach { _ => rig.time.advance(15.seconds); rig.destination.last.accept() }
    rig.writer.flush()
    assert(rig.writer.metrics.entriesOut == 9)

    val throttledBetween = new Rig(settings.copy(deliveryTimeout = 20.seconds))
    throttledBetween.write(1, 2, 3)
    (1 to 3).foreach { accepted =>
      throttledBetween.time.advance(15.seconds)
      throttledBetween.destination.last.judge(item => if (item.n == accepted) Accepted else throttled)
    }
    throttledBetween.writer.flush()
    assert(throttledBetween.writer.metrics.entriesOut == 3)
  }

  test("what the destination accepts from another writer of the process extends the delivery timeout") {
    val delivery = new DeliveryProgress
    val rig = new Rig(settings.copy(deliveryTimeout = 20.seconds), delivery = delivery)
    rig.write(1, 2, 3)
    rig.time.advance(15.seconds)
    delivery.accepted(rig.time.nanoTime)
    rig.time.advance(19.seconds)
    assert(rig.writer.failed.isEmpty)
    rig.time.advance(1.second)
    assert(intercept[DeliveryFailedException](rig.writer.flush()).waitedMillis == 20000)
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

  test("close cancels the requests in flight and returns when they have ended, also if its thread is interrupted") {
    val rig = new Rig
    rig.destination.endsOnCancel = false
    rig.write(1 to 9: _*)
    val closed = rig.elsewhere {
      Thread.currentThread().interrupt()
      rig.writer.close()
    }
    eventually(rig.destination.requests.forall(_.cancels == 1) && rig.time.pending == 1)
    rig.destination.requests(0).accept()
    assert(!closed.isDone)
    rig.destination.requests(1).accept()
    assert(within(closed).isEmpty)
    assert(rig.time.pending == 0)
  }

  test("close waits a few seconds at most for a request that does not end") {
    val rig = new Rig
    rig.destination.endsOnCancel = false
    rig.write(1, 2, 3)
    val closed = rig.elsewhere(rig.writer.close())
    eventually(rig.destination.last.cancels == 1 && rig.time.pending == 1)
    assert(!closed.isDone)
    rig.time.advance(10.seconds)
    assert(within(closed).isEmpty)
  }

  test("a request that another thread starts while the writer is closed is cancelled") {
    val request = new Request(IndexedSeq(new Pending(Item(1), 1, None, Lane.Unlimited, 0, 1)), 1, 0, 1)
    val answer = new CompletableFuture[IndexedSeq[Verdict]]
    request.cancel()
    request.started(answer)
    assert(answer.isCancelled)
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
}
