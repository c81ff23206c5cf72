package org.apache.spark.sparkkinesis

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListenerExecutorRemoved

/** Tells listeners what a cluster would. */
object ListenerEvents {
  def executorRemoved(context: SparkContext, executorId: String): Unit =
    context.listenerBus.post(SparkListenerExecutorRemoved(System.currentTimeMillis(), executorId, "by a test"))
}
