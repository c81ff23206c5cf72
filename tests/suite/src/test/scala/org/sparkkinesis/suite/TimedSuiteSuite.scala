package org.sparkkinesis.suite

import java.util.concurrent.CountDownLatch

import scala.concurrent.duration._

import org.scalatest._
import org.scalatest.events.{Event, TestFailed, TestSucceeded}
import org.scalatest.exceptions.TestFailedException

class TimedSuiteSuite extends TimedSuite {
  private def events(suite: Suite): Seq[Event] = {
    val seen = Seq.newBuilder[Event]
    suite.run(None, Args(event => seen += event))
    seen.result()
  }

  test("a test that hangs fails at the limit with the stacks of all threads, is interrupted, and the next one runs") {
    val interrupted = new CountDownLatch(1)
    val found = events(new TimedSuite {
      override protected def timeLimit: FiniteDuration = 3.seconds
      test("hangs") {
        try new CountDownLatch(1).await()
        catch { case _: InterruptedException => interrupted.countDown() }
      }
      test("does not") {}
    })
    val failure = found.collectFirst { case failed: TestFailed => failed }.get
    assert(failure.testName == "hangs")
    assert(failure.message.startsWith("The test took longer than 3 seconds."))
    assert(failure.message.contains("\"test: hangs\" WAITING"))
    assert(failure.message.contains("java.util.concurrent.CountDownLatch.await"))
    interrupted.await()
    assert(found.collect { case passed: TestSucceeded => passed.testName } == Seq("does not"))
  }

  test("a failed assertion and an exception are reported as the failure of the test") {
    val found = events(new TimedSuite {
      test("asserts")(assert(1 + 1 == 3))
      test("throws")(throw new IllegalStateException("broken"))
    })
    val failures = found.collect { case failed: TestFailed => failed.testName -> failed.throwable.get }
    assert(failures.map(_._1) == Seq("asserts", "throws"))
    assert(failures.head._2.isInstanceOf[TestFailedException] && failures.last._2.getMessage == "broken")
  }
}
