package org.sparkkinesis.spark.sink

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.DataWriter

/**
 * A writer that sends its last rows with `commit`. Spark 3.5 reads the metrics of the SQL tab before that and has no
 * other call, so they lack the last rows of a task there.
 */
abstract private[sink] class RowsWriter extends DataWriter[InternalRow] {

  /** Sends the last rows, and returns when all rows are stored. */
  protected def sendAll(): Unit
}
