package org.sparkkinesis.sink

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.sink.Verdict._
import org.sparkkinesis.sink.kinesis.KinesisSinkSettings
import org.sparkkinesis.sink.limit.{NoRateLimiting, RateLimitingContext}
import org.sparkkinesis.sink.writer.AsyncSinkWriter
import org.sparkkinesis.suite.TimedSuite

/** What the suites of this class share. */
abstract class SinkWriterTests extends TimedSuite {
  protected val settings = KinesisSinkSettings.of(Options.defaults).requests.copy(
    maxBatchSize = 3,
    maxBatchBytes = 100,
    maxTimeInBuffer = 1.second,
    maxInFlightRequests = 2,
    maxBufferedEntries = 9,
    maxBufferedBytes = 1000,
    requestTimeout = 30.seconds,
    deliveryTimeout = 10.minutes
  )
  protected val throttled: Verdict = Retry(RetryCause.Throttled, "slow down")
  protected val failed: Verdict = Retry(RetryCause.Failed, "try again")

  protected class Rig(
      val settings: AsyncSinkSettings = settings,
      together: Boolean = false,
      delivery: DeliveryProgress = new DeliveryProgress
  ) {
    val time = new VirtualScheduler
    val destination = new WaitingDestination(together)
    val writer: AsyncSinkWriter[Item] = writerTo(destination, settings, time, delivery)
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

  protected def writerTo(
      to: SinkDestination[Item],
      settings: AsyncSinkSettings,
      time: VirtualScheduler,
      delivery: DeliveryProgress = new DeliveryProgress
  ) =
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
      () => 1.0,
      delivery = delivery
    )

  protected def eventually(condition: => Boolean): Unit = {
    val deadline = System.nanoTime() + 10.seconds.toNanos
    while (!condition && System.nanoTime() < deadline) Thread.`yield`()
    assert(condition)
  }

  protected def within[A](future: CompletableFuture[A]): A = future.get(10, TimeUnit.SECONDS)
}
