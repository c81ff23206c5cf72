package org.apache.spark.sql.sparkkinesis

import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.SparkSession

/**
 * The streaming queries that run in this driver. A write in `foreachBatch` has no other way to the checkpoint of its
 * query, because Spark tells its location to sinks only.
 *
 * Only this object uses what is private to Spark SQL, and it exposes no private type.
 */
object RunningQueries {

  /**
   * @param runId
   *   id of this run of the query
   * @param checkpointLocation
   *   the directory of its checkpoint
   */
  final case class Running(runId: String, checkpointLocation: String)

  /** Returns the query with this id, if it runs. */
  def find(session: SparkSession, queryId: String): Option[Running] =
    Try(UUID.fromString(queryId)).toOption.flatMap(id => Option(session.sharedState.activeStreamingQueries.get(id)))
      .map(query => Running(query.runId.toString, query.resolvedCheckpointRoot))
}
