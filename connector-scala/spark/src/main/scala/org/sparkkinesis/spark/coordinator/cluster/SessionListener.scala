package org.sparkkinesis.spark.coordinator.cluster

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener

/** Listens to the events of a Spark application until it is closed. */
final class SessionListener(context: SparkContext, listener: SparkListener) extends AutoCloseable {
  context.addSparkListener(listener)

  /**
   * Removes the listener on a thread of its own. A query that stops interrupts its thread, and if Spark is interrupted
   * while it ends the queue of its last listener, the session hangs when it stops.
   */
  override def close(): Unit = {
    val removal = new Thread(() => context.removeSparkListener(listener), "kinesis-listener-removal")
    removal.setDaemon(true)
    removal.start()
    var isInterrupted = false
    while (removal.isAlive)
      try removal.join()
      catch { case _: InterruptedException => isInterrupted = true }
    if (isInterrupted) Thread.currentThread.interrupt()
  }
}
