package org.sparkkinesis.spark.connection

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, VirtualScheduler}
import org.sparkkinesis.suite.TimedSuite

class ServiceTimeSchedulerSuite extends TimedSuite {
  private val Start = 1_700_000_000_000L

  /** A scheduler whose own clock is wrong and changes while it runs. */
  private class Setup {
    val virtual = new VirtualScheduler(Start)
    var skewMillis = 0L
    var fatal = Vector.empty[Throwable]
    private val own = new Scheduler with AutoCloseable {
      override def nanoTime: Long = virtual.nanoTime
      override def currentMillis: Long = virtual.currentMillis + skewMillis
      override def execute(task: Runnable): Unit = virtual.execute(task)
      override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable = virtual.schedule(delay)(task)
      override def close(): Unit = ()
    }
    val scheduler = new ServiceTimeScheduler(own, error => fatal :+= error)
  }

  test("it adds the elapsed time to the reported time, independent of the process's clock") {
    val s = new Setup
    assert(s.scheduler.currentMillis == Start)
    s.scheduler.heard(Start + 5000)
    Seq(1200000L, -1200000L, 0L).foreach { skew =>
      s.skewMillis = skew
      s.virtual.advance(10.seconds)
      val shown = s.scheduler.currentMillis - 5000
      assert(shown <= s.virtual.currentMillis && s.virtual.currentMillis - shown <= 1)
    }
  }

  test("an exhausted heap and a missing class in a task are passed on, other failures are not") {
    val s = new Setup
    val errors = Seq(new OutOfMemoryError("for this test"), new LinkageError("another version"))
    val failures = errors :+ new IllegalStateException("for this test")
    val tasks = Seq[(=> Unit) => Unit](
      task => s.scheduler.execute(() => task),
      task => s.scheduler.schedule(1.second)(task): Unit
    )
    for (run <- tasks; failure <- failures) {
      run(throw failure)
      val thrown =
        try { s.virtual.advance(1.second); None }
        catch { case error: Throwable => Some(error) }
      assert(thrown.contains(failure))
    }
    assert(s.fatal == errors ++ errors)
  }

  test("of reports with different delays, the one with the shortest delay counts") {
    val s = new Setup
    s.scheduler.heard(Start - 400)
    s.scheduler.heard(Start - 3000)
    s.scheduler.heard(Start - 20)
    s.scheduler.heard(Start - 90)
    assert(s.scheduler.currentMillis == Start - 21)
  }
}
