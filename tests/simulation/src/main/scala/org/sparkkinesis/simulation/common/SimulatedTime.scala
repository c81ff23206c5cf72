package org.sparkkinesis.simulation.common

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.{Cancellable, Scheduler, VirtualScheduler}

/** The simulation has reached an invalid state, detected by the oracle or by the run itself. */
final class Violation(val kind: String, message: String, cause: Throwable = null)
    extends RuntimeException(s"$kind: $message", cause)

/**
 * Virtual time for all processes, on one thread. A waiting caller runs the tasks that become due, so a wait within
 * such a task is nested: the outermost code is the query's thread, and all other code is background work of some
 * process.
 *
 * @param startMillis
 *   the service's time at the start
 */
final class SimulatedTime(startMillis: Long) {
  val scheduler = new VirtualScheduler(startMillis)
  private var depth = 0
  private var limitNanos = Long.MaxValue
  private var limitIsOf = ""

  def nowMillis: Long = scheduler.currentMillis

  /** The running time since the start, in milliseconds. */
  def elapsedMillis: Long = scheduler.nanoTime / 1000000

  /** Returns whether the caller is the outermost code, not a task that runs during a wait. */
  def isOutermost: Boolean = depth == 0

  /** Sets the time limit of the simulation from now on. */
  def limit(time: FiniteDuration, what: String): Unit = {
    limitNanos = scheduler.nanoTime + time.toNanos
    limitIsOf = what
  }

  /** Advances time until the condition holds, at most this long. Returns whether it holds. */
  def waitFor(most: FiniteDuration)(condition: => Boolean): Boolean = {
    var isLate = false
    val alarm = scheduler.schedule(most) { isLate = true }
    depth += 1
    try scheduler.advanceUntil(most + 1.second)(isLate || condition || isStuck)
    finally {
      depth -= 1
      alarm.cancel()
    }
    if (isStuck) throw new Violation("hang", s"$limitIsOf exceeded its time limit")
    !isLate || condition
  }

  private def isStuck: Boolean = scheduler.nanoTime > limitNanos
}

/** A process with its own clock, which can end without notice, or stand still for a while. */
final class SimulatedProcess(val name: String, time: SimulatedTime, skewMillis: () => Long = () => 0) {
  private var alive = true
  private var onKill: () => Unit = () => ()

  /** The number of steps until the process is killed. */
  private var stepsLeft = Option.empty[Int]
  private var frozenUntilNanos = 0L

  def isAlive: Boolean = alive

  /** Registers an action that runs when this process is killed. */
  def whenKilled(action: => Unit): Unit = onKill = () => action

  def kill(): Unit = if (alive) {
    alive = false
    onKill()
  }

  /** Stops the process's background work for this time, while the clocks and the other processes go on. */
  def freeze(millis: Long): Unit =
    frozenUntilNanos = math.max(frozenUntilNanos, time.scheduler.nanoTime + millis * 1000000)

  def killAfter(steps: Int): Unit = if (steps <= 0) kill() else stepsLeft = Some(steps)

  /** Marks a point at which the process may be killed. */
  def step(): Unit = {
    stepsLeft = stepsLeft.map(_ - 1)
    if (stepsLeft.contains(0)) kill()
    check()
  }

  /** Throws if the process has been killed, to end its thread. */
  def check(): Unit = if (!alive) throw new ProcessKilled(name)

  val scheduler: Scheduler = new Scheduler {
    override def nanoTime: Long = time.scheduler.nanoTime
    override def currentMillis: Long = time.nowMillis + skewMillis()
    override def execute(task: Runnable): Unit =
      if (alive) time.scheduler.execute(() => whenAwake(guarded(task.run())))
    override def schedule(delay: FiniteDuration)(task: => Unit): Cancellable =
      if (alive) {
        var isCancelled = false
        val timer = time.scheduler.schedule(delay)(whenAwake(if (!isCancelled) guarded(task)))
        () => {
          isCancelled = true
          timer.cancel()
        }
      } else Cancellable.None
  }

  /** Runs a task now, or when the process goes on. What becomes due meanwhile runs then in the same order. */
  private def whenAwake(task: => Unit): Unit = {
    val left = frozenUntilNanos - time.scheduler.nanoTime
    if (left <= 0) task
    else {
      time.scheduler.schedule(left.nanos)(whenAwake(task))
      ()
    }
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

  /** Throws once if the thread was interrupted. */
  def check(): Unit = if (interrupted) {
    interrupted = false
    throw new InterruptedException("the query is stopped")
  }
}

/** Ends the thread of a killed process; no code may catch it permanently. */
final class ProcessKilled(process: String) extends Error(s"$process was killed", null, false, false)
