package org.sparkkinesis.aws.http

import java.util.ArrayDeque
import java.util.concurrent.Executor

/**
 * Runs at most `limit` tasks at the same time on the threads of another executor. Further tasks wait in order.
 * Thread-safe.
 */
final private[aws] class BoundedExecutor(limit: Int, threads: Executor) extends Executor {
  private val waiting = new ArrayDeque[Runnable]
  private var running = 0

  override def execute(task: Runnable): Unit = {
    val starts = synchronized {
      if (running < limit) {
        running += 1
        true
      } else {
        waiting.add(task)
        false
      }
    }
    if (starts)
      try threads.execute(() => runFrom(task))
      catch {
        // For example, the system has no more threads.
        case error: Throwable =>
          synchronized(running -= 1)
          throw error
      }
  }

  private def runFrom(first: Runnable): Unit = {
    var task = first
    while (task != null) {
      try task.run()
      catch {
        case error: Throwable =>
          val thread = Thread.currentThread
          thread.getUncaughtExceptionHandler.uncaughtException(thread, error)
      }
      // A time limit of the SDK that ends late may interrupt the thread after its call.
      Thread.interrupted()
      task = next()
    }
  }

  private def next(): Runnable = synchronized {
    val task = waiting.poll()
    if (task == null) running -= 1
    task
  }
}
