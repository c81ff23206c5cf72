package org.apache.spark.sql.sparkkinesis

import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** Posts the events of streaming queries to Spark's listeners. */
object QueryEvents {

  /** Posts the end of a run, and waits until the listeners have received it. */
  def terminated(context: SparkContext, queryId: UUID, runId: UUID): Unit = {
    context.listenerBus.post(new QueryTerminatedEvent(queryId, runId, None, None))
    context.listenerBus.waitUntilEmpty()
  }
}
