package org.sparkkinesis.error

/**
 * Decides what follows when records are lost: an error, or a notice after which reading continues with what is left.
 * Thread-safe.
 *
 * @param endsQuery
 *   whether a loss is an error
 * @param warn
 *   takes note of a loss that is not an error
 */
final class DataLossPolicy(val endsQuery: Boolean, warn: KinesisConnectorException => Unit) {

  /** Throws the loss, or warns of it. */
  def lost(loss: KinesisConnectorException): Unit = if (endsQuery) throw loss else warn(loss)
}

object DataLossPolicy {

  /** Every loss is an error. */
  val Strict = new DataLossPolicy(endsQuery = true, _ => ())
}
