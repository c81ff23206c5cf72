package org.sparkkinesis.error

/**
 * Decides what happens when records are lost: an error, or a warning after which reading continues with the remaining
 * records. Thread-safe.
 *
 * @param endsQuery
 *   whether a loss is an error
 * @param warn
 *   called for a loss that is not an error
 */
final class DataLossPolicy(val endsQuery: Boolean, warn: KinesisConnectorException => Unit) {

  /** Throws the loss or reports it as a warning. */
  def lost(loss: KinesisConnectorException): Unit = if (endsQuery) throw loss else warn(loss)
}

object DataLossPolicy {

  /** Throws every loss. */
  val Strict = new DataLossPolicy(endsQuery = true, _ => ())
}
