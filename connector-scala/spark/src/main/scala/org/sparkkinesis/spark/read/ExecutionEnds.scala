package org.sparkkinesis.spark.read

import java.util

import scala.collection.mutable

import org.apache.spark.SparkContext

/**
 * The end of each stream that one execution of a statement reads. Spark plans each scan of a statement by itself, at
 * different times, so that a union or join of a table with itself would read the table up to different ends. The first
 * scan of an execution fixes the end. Thread-safe.
 *
 * @param maxExecutions
 *   number of executions to remember, of which the last ones matter
 */
final class ExecutionEnds(maxExecutions: Int) {
  private val ends = new util.LinkedHashMap[String, mutable.Map[String, Long]] {
    override def removeEldestEntry(eldest: util.Map.Entry[String, mutable.Map[String, Long]]): Boolean =
      size() > maxExecutions
  }

  /**
   * Returns the time at which a read of a stream ends, in epoch milliseconds.
   *
   * @param execution
   *   id of the execution; empty outside an execution, where each scan has its own end
   * @param nowMillis
   *   the end if this is the first scan of the stream in the execution
   */
  def of(execution: Option[String], streamArn: String, nowMillis: Long): Long = execution.fold(nowMillis) { id =>
    synchronized(ends.computeIfAbsent(id, _ => mutable.Map.empty).getOrElseUpdate(streamArn, nowMillis))
  }
}

object ExecutionEnds {

  /** Spark numbers the executions of a JVM. */
  val ofJvm = new ExecutionEnds(maxExecutions = 1000)

  /** Returns the id of the SQL execution that the calling thread plans. Spark passes it on to its own threads. */
  def current(context: SparkContext): Option[String] = Option(context.getLocalProperty("spark.sql.execution.id"))
}
