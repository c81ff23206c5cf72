package org.sparkkinesis.sink

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{NoRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.suite.TimedSuite

/** Several writers of one task, as for rows of several streams. */
class SinkBoundsSuite extends TimedSuite {
  private val settings = KinesisSinkSettings.of(Options.defaults).requests.copy(
    maxTimeInBuffer = 1.hour,
    maxBufferedEntries = 10,
    maxBufferedBytes = 1000
  )

  private class Rig(writers: Int, settings: AsyncSinkSettings = settings) {
    val time = new VirtualScheduler
    val bounds: SinkBounds = settings.newBounds
    val destinations = IndexedSeq.fill(writers)(new WaitingDestination)
    val all = destinations.map { destination =>
      val limit = new NoRateLimiting(RateLimitingContext(500, 50, () => 1, 1000)).open()
      new AsyncSinkWriter[Item](destination, limit, settings, bounds, time, () => 1.0)
    }
    def held: Int = all.map(_.metrics).map(m => m.bufferedEntries + m.inFlightEntries).sum

    def elsewhere(body: => Unit): CompletableFuture[Void] = CompletableFuture.runAsync(() => body)
  }

  test("the writers of a task together hold at most the entries of one writer") {
    val rig = new Rig(5)
    (0 until 10).foreach(n => rig.all(n % 5).write(Item(n)))
    val eleventh = rig.elsewhere(rig.all(0).write(Item(10)))
    // The entries of the other writers are sent before maxTimeInBuffer, because a writer waits for space.
    rig.destinations.foreach(_.awaitRequests(1))
    assert(!eleventh.isDone)
    assert(rig.held == 10)
    rig.destinations(4).last.accept()
    eleventh.get(10, TimeUnit.SECONDS)
    assert(rig.held == 9)
  }

  test("the byte limit is shared by the writers of a task") {
    val rig = new Rig(2)
    rig.all(0).write(Item(1, size = 600))
    rig.all(1).write(Item(2, size = 300))
    val third = rig.elsewhere(rig.all(1).write(Item(3, size = 200)))
    rig.destinations.foreach(_.awaitRequests(1))
    assert(!third.isDone)
    rig.destinations(0).last.accept()
    third.get(10, TimeUnit.SECONDS)
  }

  test("each writer of a task has its own number of requests, so that one without answers does not hold up others") {
    val rig = new Rig(2, settings.copy(maxBatchSize = 1, maxInFlightRequests = 2))
    (0 until 3).foreach(n => rig.all(0).write(Item(n)))
    assert(rig.destinations(0).sent == Seq(Seq(0), Seq(1)), "the third request waits for an answer")
    (3 until 6).foreach(n => rig.all(1).write(Item(n)))
    assert(rig.destinations(1).sent == Seq(Seq(3), Seq(4)))
    rig.destinations(1).requests.head.accept()
    assert(rig.destinations(1).sent == Seq(Seq(3), Seq(4), Seq(5)))
    assert(rig.all.map(_.metrics.inFlightRequests) == Seq(2, 2))
  }

  test("a closed writer returns its space and wakes the waiting writer") {
    val rig = new Rig(2)
    (0 until 10).foreach(n => rig.all(0).write(Item(n)))
    val waits = rig.elsewhere(rig.all(1).write(Item(10)))
    rig.destinations(0).awaitRequests(1)
    rig.all(0).close()
    waits.get(10, TimeUnit.SECONDS)
    assert(rig.all(1).metrics.bufferedEntries == 1)
  }

  test(
    "a writer that waits for room fails when another writer of the task fails, since that room is never given back"
  ) {
    val rig = new Rig(2)
    (0 until 10).foreach(n => rig.all(0).write(Item(n)))
    val waits = rig.elsewhere(rig.all(1).write(Item(10)))
    rig.destinations(0).awaitRequests(1)
    val cause = new IllegalStateException("the stream is gone")
    rig.destinations(0).last.answer.completeExceptionally(cause)
    val failure = intercept[ExecutionException](waits.get(10, TimeUnit.SECONDS)).getCause
    assert(failure.asInstanceOf[OtherWriterFailedException].failure.getCause eq cause)
    assert(rig.all(0).failed.exists(_.getCause eq cause) && rig.all(1).failed.isEmpty)
    intercept[OtherWriterFailedException](rig.all(1).write(Item(11)))
  }

  test("a writer does not wait for room of a second writer that has failed after the first one was taken back") {
    val rig = new Rig(3)
    (0 until 10).foreach(n => rig.all(n % 2).write(Item(n)))
    val causes = (0 to 1).map { n =>
      val cause = new IllegalStateException(s"the stream of writer $n is gone")
      val waits = rig.elsewhere(rig.all(2).write(Item(10 + n)))
      rig.destinations(n).awaitRequests(1)
      rig.destinations(n).last.answer.completeExceptionally(cause)
      intercept[ExecutionException](waits.get(10, TimeUnit.SECONDS))
      cause
    }
    assert(rig.all(0).takeBack().size == 5)
    val second = intercept[OtherWriterFailedException]((0 until 6).foreach(n => rig.all(2).write(Item(20 + n))))
    assert(second.failure.getCause eq causes(1))
    rig.all(1).takeBack()
    rig.all(2).write(Item(30))
  }
}
