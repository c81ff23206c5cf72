package org.apache.spark.sparkkinesis

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListenerExecutorRemoved

/** Posts the events that a cluster would post to Spark's listeners. */
object ListenerEvents {
  def executorRemoved(context: SparkContext, executorId: String): Unit =
    context.listenerBus.post(SparkListenerExecutorRemoved(System.currentTimeMillis(), executorId, "by a test"))
}
