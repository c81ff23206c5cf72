package org.sparkkinesis.concurrent

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.sparkkinesis.suite.TimedSuite

class ExecutionSuite extends TimedSuite {
  test("a serial executor reports a fatal error and continues with the next task") {
    val told = new ConcurrentLinkedQueue[Throwable]
    val serial = new SerialExecutor(task => task.run(), error => told.add(error): Unit)
    var ran = false
    serial.run(throw new LinkageError("a class of another version"))
    serial.run(throw new OutOfMemoryError("for this test"))
    serial.run { ran = true }
    assert(told.asScala.map(_.getClass.getSimpleName).toSeq == Seq("LinkageError", "OutOfMemoryError"))
    assert(ran)
  }

  test("a closed scheduler runs the tasks submitted before and drops delayed tasks") {
    val scheduler = new SystemScheduler("execution-suite", 1)
    val (begun, goOn, done) = (new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1))
    @volatile var dropped = true
    scheduler.execute { () =>
      begun.countDown()
      goOn.await()
    }
    begun.await()
    scheduler.schedule(1.hour) { dropped = false }
    scheduler.execute(() => done.countDown())
    scheduler.close()
    goOn.countDown()
    assert(done.await(20, TimeUnit.SECONDS), "the task that was given before the end did not run")
    // A task submitted after `close` is dropped without an error.
    scheduler.execute { () => dropped = false }
    scheduler.schedule(Duration.Zero) { dropped = false }.cancel()
    assert(scheduler.awaitTermination(20.seconds), "the scheduler's threads did not end")
    assert(dropped)
  }

  test("a scheduler of the JVM has a thread while a task waits, and none later") {
    val scheduler = new SystemScheduler("execution-suite-idle", 2, Some(50.millis))
    val threads = new ConcurrentLinkedQueue[Thread]
    def task(after: FiniteDuration): Unit = {
      val ran = new CountDownLatch(1)
      scheduler.schedule(after) {
        threads.add(Thread.currentThread)
        ran.countDown()
      }
      assert(ran.await(20, TimeUnit.SECONDS))
    }
    // Longer than a thread without a task would live.
    task(after = 200.millis)
    threads.asScala.foreach(_.join())
    task(after = Duration.Zero)
    threads.asScala.foreach(_.join())
    assert(threads.asScala.toSet.size == 2)
  }
}
