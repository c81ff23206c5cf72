package org.sparkkinesis.spark.sink

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.DataWriter

/** A writer that learns when the last row of its task was written. */
abstract private[sink] class RowsWriter extends DataWriter[InternalRow] {

  /** Sends the last rows, and returns when all rows are stored. */
  protected def sendAll(): Unit

  /** Sends the last rows as well, because Spark reads the metrics of the SQL tab after this call, before `commit`. */
  final override def writeAll(rows: java.util.Iterator[InternalRow]): Unit = {
    super.writeAll(rows)
    sendAll()
  }
}
