package org.apache.spark.sql.sparkkinesis

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SharedState

/** The state of sessions as Spark 3.5 has it. */
private object SessionState {

  /** Returns the state that the sessions of a context share. */
  def shared(session: SparkSession): Option[SharedState] = Some(session.sharedState)
}
