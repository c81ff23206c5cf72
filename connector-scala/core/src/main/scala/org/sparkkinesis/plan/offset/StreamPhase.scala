package org.sparkkinesis.plan.offset

/** Whether a stream of an offset is read. Times are epoch milliseconds by the service's clock. */
sealed trait StreamPhase

object StreamPhase {

  /** The stream is read. */
  case object Active extends StreamPhase

  /** The stream was removed at this time, and is read until it has no more records. */
  final case class Draining(sinceMillis: Long) extends StreamPhase

  /**
   * The stream is not read. Its position is kept, in case it comes back.
   *
   * @param isDrained
   *   whether every record was read before
   */
  final case class Parked(sinceMillis: Long, isDrained: Boolean) extends StreamPhase
}
