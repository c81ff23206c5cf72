package org.sparkkinesis.plan.member

/** State of a stream that a metadata document requires. Times are epoch milliseconds by the service's clock. */
sealed trait StreamWish

object StreamWish {

  /** The stream is to be read. */
  case object Read extends StreamWish

  /** The stream was removed at this time. Its records are to be read. */
  final case class Drain(sinceMillis: Long) extends StreamWish

  /** The stream was removed at this time. It is not to be read, and its position is kept. */
  final case class Park(sinceMillis: Long) extends StreamWish
}
