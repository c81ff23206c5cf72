package org.sparkkinesis.spark.session.member

import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.plan.offset.SourceOffset

/** The streams of a query, which join and leave while it runs or between two of its runs. For the query's thread. */
trait ChangingStreams {

  /** Opens the streams that a batch of an earlier run reads and that this run does not read. */
  def openForBatch(start: SourceOffset, end: SourceOffset): Unit

  /** Returns the start of a batch with the streams that joined in it. */
  def withJoined(start: SourceOffset, end: SourceOffset): SourceOffset

  /** Returns how a stream of this query, or of an earlier run, is reached. */
  def known(arn: String): Option[PhysicalStream]
}
