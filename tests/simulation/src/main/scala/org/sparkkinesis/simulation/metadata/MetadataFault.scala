package org.sparkkinesis.simulation.metadata

/** A temporary fault of the metadata service. */
sealed trait MetadataFault extends Product

object MetadataFault {

  /** Every request fails. */
  case object Down extends MetadataFault

  /** Every request fails after this time. */
  final case class Slow(seconds: Int) extends MetadataFault

  /** Answers end in the middle of the document. */
  case object Truncated extends MetadataFault

  /** Answers have a state that does not exist. */
  case object UnknownState extends MetadataFault

  /** The document has no physical stream. */
  case object Empty extends MetadataFault

  /** The document lacks the logical stream. */
  case object OtherStream extends MetadataFault

  /** Answers are the version before the last change. */
  case object Older extends MetadataFault

  /** Every other answer lacks this stream. */
  final case class Lacking(stream: Int) extends MetadataFault
}
