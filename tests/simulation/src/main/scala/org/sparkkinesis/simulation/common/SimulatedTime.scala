package org.sparkkinesis.simulation.common

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, VirtualScheduler}

/** The simulation has come to a state that must not be: what the oracle, or the run itself, found. */
final class Violation(val kind: String, message: String, cause: Throwable = null)
    extends RuntimeException(s"$kind: $message", cause)

/**
 * Virtual time for all processes, on one thread. Whoever has to wait runs what is due meanwhile, so that a wait within such a task is
 * nested: the outermost code is the query's thread, everything else is somebody's background.
 *
 * @param startMillis
 *   the service's clock at the beginning
 */
final class SimulatedTime(startMillis: Long) {
  val scheduler = new VirtualScheduler(startMillis)
  private var depth = 0
  private var limitNanos = Long.MaxValue
  private var limitIsOf = ""

  def nowMillis: Long = scheduler.currentMillis

  /** Whether the caller is the outermost code, not a task that runs while it waits. */
  def isOutermost: Boolean = depth == 0

  /** From now on the simulation must be over within this time. */
  def limit(time: FiniteDuration, what: String): Unit = {
    limitNanos = scheduler.nanoTime + time.toNanos
    limitIsOf = what
  }

  /** Lets time pass until the condition holds, at most so long; tells whether it does. */
  def waitFor(most: FiniteDuration)(condition: => Boolean): Boolean = {
    var isLate = false
    val alarm = scheduler.schedule(most) { isLate = true }
    depth += 1
    try scheduler.advanceUntil(most + 1.second)(isLate || condition || isStuck)
    finally {
      depth -= 1
      alarm.cancel()
    }
    if (isStuck) throw new Violation("hang", s"$limitIsOf is not over in time")
    !isLate || condition
  }

  private def isStuck: Boolean = scheduler.nanoTime > limitNanos
}

/** A process: it has a clock of its own, and ends without a word. */
final class SimulatedProcess(val name: String, time: SimulatedTime, skewMillis: () => Long = () => 0) {
  private var alive = true
  private var onKill: () => Unit = () => ()

  /** Steps until the process is killed. */
  private var stepsLeft = Option.empty[Int]

  def isAlive: Boolean = alive

  /** Whoever ends with this process. */
  def whenKilled(action: => Unit): Unit = onKill = () => action

  def kill(): Unit = if (alive) {
    alive = false
    onKill()
  }

  def killAfter(steps: Int): Unit = if (steps <= 0) kill() else stepsLeft = Some(steps)

  /** A place where the process may be killed. */
  def step(): Unit = {
    stepsLeft = stepsLeft.map(_ - 1)
    if (stepsLeft.contains(0)) kill()
    check()
  }

  /** Ends the thread of a process that has been killed. */
  def check(): Unit = if (!alive) throw new ProcessKilled(name)

  val scheduler: Scheduler = new Scheduler {
    override def nanoTime: Long = time.scheduler.nanoTime
    override def currentMillis: Long = time.nowMillis + skewMillis()
    override def execute(task: Runnable): Unit = if (alive) time.scheduler.execute(() => guarded(task.run()))
    override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable =
      if (alive) time.scheduler.schedule(delay)(guarded(task)) else Cancellable.None
  }

  private def guarded(task: => Unit): Unit = if (alive)
    try task
    catch {
      case _: ProcessKilled => ()
      case violation: Violation => throw violation
      case NonFatal(failure) => throw new Violation("background", s"a task of $name failed: $failure", failure)
    }
}

/** The thread of a query, which is interrupted when the query is stopped. */
final class QueryThread {
  private var stopped = false
  private var interrupted = false

  def isStopped: Boolean = stopped
  def isInterrupted: Boolean = interrupted

  def stop(): Unit = {
    stopped = true
    interrupted = true
  }

  /** An interrupt ends one wait. */
  def check(): Unit = if (interrupted) {
    interrupted = false
    throw new InterruptedException("the query is stopped")
  }
}

/** Unwinds the thread of a process that was killed; nobody may catch it for good. */
final class ProcessKilled(process: String) extends Error(s"$process was killed", null, false, false)
