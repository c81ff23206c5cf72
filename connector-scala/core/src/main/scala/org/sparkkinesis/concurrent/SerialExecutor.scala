package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

import scala.util.control.NonFatal

/**
 * Runs tasks one at a time, in the order given, on the threads of another executor; each sees what the former did.
 *
 * @param onFailure
 *   is told what a task throws, on the same thread; the tasks after it still run
 */
final class SerialExecutor(underlying: Executor, onFailure: Throwable => Unit) extends Executor {
  private val tasks = new ConcurrentLinkedQueue[Runnable]
  private val waiting = new AtomicInteger

  override def execute(task: Runnable): Unit = {
    tasks.add(task)
    if (waiting.getAndIncrement() == 0) underlying.execute(() => drain())
  }

  def run(task: => Unit): Unit = execute(() => task)

  private def drain(): Unit = {
    var pending = waiting.get
    while (pending > 0) {
      var i = 0
      while (i < pending) {
        try tasks.poll().run()
        catch { case NonFatal(error) => onFailure(error) }
        i += 1
      }
      pending = waiting.addAndGet(-pending)
    }
  }
}
