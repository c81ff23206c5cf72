package org.apache.spark.sql.sparkkinesis

import org.apache.spark.sql.internal.SharedState
import org.apache.spark.sql.{SparkSession, classic}

/** The state of sessions as Spark 4 has it. */
private object SessionState {

  /** Returns the state that the sessions of a context share, if this is not a session of Spark Connect's client. */
  def shared(session: SparkSession): Option[SharedState] = session match {
    case own: classic.SparkSession => Some(own.sharedState)
    case _ => None
  }
}
