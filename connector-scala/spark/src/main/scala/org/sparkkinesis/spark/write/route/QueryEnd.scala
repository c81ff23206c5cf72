package org.sparkkinesis.spark.write.route

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** Tells a sink that a run of its streaming query has ended, which Spark's interfaces for sinks do not. */
private[route] object QueryEnd {

  /** Calls `action` once, on a thread of its own, when this run ends. The next run of the query has another id. */
  def await(context: SparkContext, runId: String)(action: => Unit): Unit =
    context.addSparkListener(new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case ended: QueryTerminatedEvent if ended.runId.toString == runId =>
          // Spark's listener thread must not remove the last listener of its queue, which it empties itself.
          val ending = new Thread(
            () =>
              try context.removeSparkListener(this)
              finally action,
            "kinesis-query-end"
          )
          ending.setDaemon(true)
          ending.start()
        case _ => ()
      }
    })
}
