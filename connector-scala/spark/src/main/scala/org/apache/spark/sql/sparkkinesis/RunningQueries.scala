package org.apache.spark.sql.sparkkinesis

import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.SparkSession

/**
 * The streaming queries that run in this driver. A write in `foreachBatch` has no other way to the checkpoint of its
 * query, because Spark tells its location to sinks only.
 *
 * Only this object and [[SessionState]] use what is private to Spark SQL, and they expose no private type.
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
  def find(session: SparkSession, queryId: String): Option[Running] = for {
    id <- Try(UUID.fromString(queryId)).toOption
    state <- SessionState.shared(session)
    query <- Option(state.activeStreamingQueries.get(id))
  } yield Running(query.runId.toString, query.resolvedCheckpointRoot)
}
