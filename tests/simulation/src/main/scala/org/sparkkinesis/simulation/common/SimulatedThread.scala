package org.sparkkinesis.simulation.common

import java.util.concurrent.locks.{Condition, Lock}
import java.util.concurrent.{CompletableFuture, Executors, Semaphore, TimeUnit}
import java.util.{Date => WallTime}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.Scheduler

/**
 * The blocking threads of a simulation. Each uses a thread of the JVM, but only one of them runs at any moment: the
 * thread of the simulation lets one run until it waits or ends, so that the same schedule always has the same result.
 *
 * @param scheduler
 *   runs on the simulation's own thread
 */
final class SimulatedThreads(scheduler: Scheduler) {
  private var started = Vector.empty[SimulatedThread]
  private var running: SimulatedThread = null

  /** The thread that is running. */
  def current: SimulatedThread = {
    if (running == null) throw new IllegalStateException("no simulated thread is running")
    running
  }

  /** Starts a thread, which runs after the caller has returned to the scheduler. */
  def start(name: String)(body: => Unit): SimulatedThread = {
    val thread = new SimulatedThread(name, this, scheduler)(body)
    started = started.filterNot(_.isDone) :+ thread
    thread.wake()
    thread
  }

  /** Ends the threads that still wait, to release the JVM's threads. */
  def endAll(): Unit = started.foreach(_.kill())

  private[common] def run(thread: SimulatedThread)(body: => Unit): Unit = {
    val before = running
    running = thread
    try body
    finally running = before
  }

  /** The object that a virtual condition of this lock waits on. */
  def condition(lock: Lock): Condition = new SimulatedCondition(lock, this)

  /** Advances virtual time for the current thread. */
  def sleep(time: FiniteDuration): Unit = {
    val thread = current
    var isOver = false
    scheduler.schedule(time) {
      isOver = true
      thread.wake()
    }
    while (!isOver) thread.park()
  }

  /** Waits for a future at most this long. Returns `None` if it is not complete by then. */
  def await[A](future: CompletableFuture[A], most: FiniteDuration): Option[CompletableFuture[A]] = {
    val thread = current
    var isLate = false
    val alarm = scheduler.schedule(most) {
      isLate = true
      thread.wake()
    }
    future.whenComplete((_, _) => thread.wake())
    try while (!future.isDone && !isLate) thread.park()
    finally alarm.cancel()
    Option.when(future.isDone)(future)
  }
}

/** One thread of a simulation. Only the thread that is running may call its methods. */
final class SimulatedThread private[common] (val name: String, threads: SimulatedThreads, scheduler: Scheduler)(
    body: => Unit
) {
  private val mayRun = new Semaphore(0)
  private val hasStopped = new Semaphore(0)
  private var done = false
  private var begun = false
  private var isWakePending = false
  private var interrupted = false
  private var killed = false
  private var failure = Option.empty[Throwable]

  def isDone: Boolean = done

  /** Lets the thread run again soon; its own loop decides whether it continues to wait. */
  def wake(): Unit = if (!isWakePending && !done) {
    isWakePending = true
    scheduler.execute { () =>
      isWakePending = false
      if (!done) step()
    }
  }

  /** Lets the thread's current or next wait throw an InterruptedException. */
  def interrupt(): Unit = {
    interrupted = true
    wake()
  }

  /** Ends the thread at its wait without notice. Only the simulation's own thread may call it. */
  def kill(): Unit = if (!done) {
    killed = true
    if (begun) step() else done = true
  }

  /** Lets another thread run. Returns when this thread is woken. */
  def park(): Unit = {
    parkUninterruptibly()
    if (interrupted) {
      interrupted = false
      throw new InterruptedException(s"$name is interrupted")
    }
  }

  /** Does what `park` does. An interrupt ends the next `park`. */
  def parkUninterruptibly(): Unit = {
    throwIfKilled()
    hasStopped.release()
    mayRun.acquireUninterruptibly()
    throwIfKilled()
  }

  private def throwIfKilled(): Unit = if (killed) throw new ProcessKilled(name)

  private def step(): Unit = {
    threads.run(this) {
      if (begun) mayRun.release()
      else {
        begun = true
        SimulatedThread.pool.execute(() => runBody())
      }
      hasStopped.acquireUninterruptibly()
    }
    failure.foreach { error =>
      failure = None
      throw error
    }
  }

  private def runBody(): Unit =
    try body
    catch {
      case _: ProcessKilled => ()
      case error: Throwable => failure = Some(error)
    } finally {
      done = true
      hasStopped.release()
    }
}

private object SimulatedThread {
  private val pool = Executors.newCachedThreadPool { (task: Runnable) =>
    val thread = new Thread(task, "simulated")
    thread.setDaemon(true)
    thread
  }
}

/** A condition that simulated threads wait on. Only waits without a time limit are supported. */
final private class SimulatedCondition(lock: Lock, threads: SimulatedThreads) extends Condition {
  private var waiting = Vector.empty[SimulatedThread]

  override def await(): Unit = waitWith(_.park())
  override def awaitUninterruptibly(): Unit = waitWith(_.parkUninterruptibly())

  private def waitWith(park: SimulatedThread => Unit): Unit = {
    val thread = threads.current
    waiting :+= thread
    lock.unlock()
    try while (waiting.contains(thread)) park(thread)
    finally {
      waiting = waiting.filterNot(_ eq thread)
      lock.lock()
    }
  }

  override def signalAll(): Unit = {
    val woken = waiting
    waiting = Vector.empty
    woken.foreach(_.wake())
  }

  override def signal(): Unit = waiting.headOption.foreach { thread =>
    waiting = waiting.tail
    thread.wake()
  }

  override def awaitNanos(nanos: Long): Long = unsupported
  override def await(time: Long, unit: TimeUnit): Boolean = unsupported
  override def awaitUntil(deadline: WallTime): Boolean = unsupported

  private def unsupported: Nothing = throw new UnsupportedOperationException("only waits without a limit are simulated")
}
