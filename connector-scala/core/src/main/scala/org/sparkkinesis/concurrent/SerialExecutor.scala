package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

/**
 * Runs tasks one at a time, in the order given, on the threads of another executor; each sees what the former did.
 *
 * @param onFailure
 *   is told what a task throws, on the same thread, also errors that are fatal to a thread such as `OutOfMemoryError` and
 *   `LinkageError`: nobody else would hear of them. The tasks after it still run.
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
        catch { case error: Throwable => onFailure(error) }
        i += 1
      }
      pending = waiting.addAndGet(-pending)
    }
  }
}
