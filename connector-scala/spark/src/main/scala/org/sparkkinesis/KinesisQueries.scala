package org.sparkkinesis

import java.util.concurrent.{CancellationException, CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.spark.read.realtime.RealTimeQueries

/** Operations on running queries. */
object KinesisQueries {

  /**
   * Ends the current real-time batch, waits until it is committed, and stops the query. The next run then repeats no
   * record; without this, it repeats the records of the batch that was running. A query in another mode is stopped at
   * once, because its next run repeats a batch exactly.
   *
   * @param timeoutMillis
   *   maximum time to wait in milliseconds. A sink that is slow to accept its records delays the end of the batch
   * @return
   *   whether the batch was committed: false after the maximum time, or if the query has failed meanwhile. The query is
   *   stopped in any case
   */
  def stopGracefully(query: StreamingQuery, timeoutMillis: Long): Boolean = {
    val drained = RealTimeQueries.ofJvm.drain(query.runId.toString)
    try {
      CompletableFuture.allOf(drained: _*).get(timeoutMillis, TimeUnit.MILLISECONDS)
      true
    } catch { case _: TimeoutException | _: CancellationException | _: ExecutionException => false }
    finally query.stop()
  }
}
