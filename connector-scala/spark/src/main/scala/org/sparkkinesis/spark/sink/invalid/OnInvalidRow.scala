package org.sparkkinesis.spark.sink.invalid

/** The handling of a row that cannot become a record. A sink may have more ways than these. */
trait OnInvalidRow extends Serializable {

  /** Treatment of the rows, for the log. */
  def action: String
}

object OnInvalidRow {
  case object Fail extends OnInvalidRow {
    override def action: String = "refused"
  }
  case object Drop extends OnInvalidRow {
    override def action: String = "dropped"
  }

  /** The tasks hold the rows, and the commit appends them to this table. */
  final case class Hold(table: String) extends OnInvalidRow {
    override def action: String = s"held for the dead-letter table $table"
  }
}
