package org.sparkkinesis.kit.stream

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.{ForeachWriter, Row}

/** Passes the rows of `ForeachWriter`s, which Spark serializes, to functions in this JVM. */
private[stream] object HandedOver {
  private val receivers = new ConcurrentHashMap[String, (Long, Row) => Unit]

  /** Returns a writer that calls `receive` in the task for each row and its batch. A later call replaces `receive`. */
  def writer(id: String)(receive: (Long, Row) => Unit): ForeachWriter[Row] = {
    receivers.put(id, receive)
    new Writer(id)
  }

  final private class Writer(id: String) extends ForeachWriter[Row] {
    private var batch = 0L

    override def open(partitionId: Long, epochId: Long): Boolean = {
      batch = epochId
      true
    }

    override def process(row: Row): Unit = receivers.get(id)(batch, row)

    override def close(failure: Throwable): Unit = ()
  }
}
