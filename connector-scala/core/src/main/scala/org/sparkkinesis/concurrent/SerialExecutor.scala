package org.sparkkinesis.concurrent

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentLinkedQueue, Executor}

/**
 * Runs tasks one at a time in the order of submission on the threads of another executor. Each task sees the memory
 * effects of the previous one.
 *
 * @param onFailure
 *   receives every throwable of a task on the same thread, including fatal errors such as `OutOfMemoryError` and
 *   `LinkageError`, which would otherwise be lost. The next tasks still run.
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
