package org.sparkkinesis.suite

import java.lang.management.ManagementFactory
import java.util.concurrent.{ExecutionException, FutureTask, TimeUnit, TimeoutException}

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{Failed, Outcome}

/**
 * The base of every suite. A test that takes longer than `timeLimit` fails with a dump of all threads, so that no
 * suite hangs. Each test runs in its own daemon thread, which is interrupted at the limit and then abandoned.
 */
abstract class TimedSuite extends AnyFunSuite {

  /** The time limit of one test, without `beforeAll` and `afterAll`. */
  protected def timeLimit: FiniteDuration = 2.minutes

  override protected def withFixture(test: NoArgTest): Outcome = {
    val outcome = new FutureTask[Outcome](() => super.withFixture(test))
    val thread = new Thread(outcome, s"test: ${test.name}")
    thread.setDaemon(true)
    thread.start()
    try outcome.get(timeLimit.toNanos, TimeUnit.NANOSECONDS)
    catch {
      case failure: ExecutionException => throw failure.getCause
      case _: TimeoutException =>
        val threads = TimedSuite.dump()
        thread.interrupt()
        Failed(s"The test took longer than $timeLimit. All threads at that time:\n$threads")
    }
  }
}

object TimedSuite {

  /** Returns the stack of every thread, with the locks that it holds and waits for. */
  private def dump(): String = {
    val beans = ManagementFactory.getThreadMXBean
    beans.dumpAllThreads(beans.isObjectMonitorUsageSupported, beans.isSynchronizerUsageSupported).map { thread =>
      val head = s"\"${thread.getThreadName}\" ${thread.getThreadState}" +
        Option(thread.getLockInfo).fold("")(lock => s" waiting for $lock") +
        Option(thread.getLockOwnerName).fold("")(owner => s" held by \"$owner\"")
      (head +: thread.getStackTrace.map(frame => s"    at $frame")).mkString("\n")
    }.mkString("\n\n")
  }
}
