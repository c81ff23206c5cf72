package org.sparkkinesis.config.value

/** Treatment of a stream that the metadata service does not name any more. */
sealed abstract class OnStreamRemoved(val word: String) extends Choice

object OnStreamRemoved {

  /** The records that the stream has are read, then its position is kept. */
  case object Drain extends OnStreamRemoved("drain")

  /** Reading stops at once, and the position is kept. */
  case object Park extends OnStreamRemoved("park")
  case object Fail extends OnStreamRemoved("fail")
  val all: Seq[OnStreamRemoved] = Seq(Drain, Park, Fail)
}

/** Treatment of a stream that the metadata service names and the query must not use. */
sealed abstract class OnForbidden(val word: String) extends Choice

object OnForbidden {

  /** The stream is not used; the others are. */
  case object Skip extends OnForbidden("skip")
  case object Fail extends OnForbidden("fail")
  val all: Seq[OnForbidden] = Seq(Skip, Fail)
}
