package org.sparkkinesis.metadata

import java.util.regex.Pattern

/** The logical streams that a query uses. */
sealed trait StreamIds {
  def contains(id: String): Boolean

  /** Returns the logical streams that the document lacks. A pattern requires none. */
  def missing(document: MetadataDocument): Seq[String]
}

object StreamIds {
  final case class Named(ids: Set[String]) extends StreamIds {
    override def contains(id: String): Boolean = ids(id)
    override def missing(document: MetadataDocument): Seq[String] =
      ids.filterNot(document.streams.contains).toSeq.sorted
    override def toString: String = ids.toSeq.sorted.mkString(", ")
  }

  final case class Matching(pattern: Pattern) extends StreamIds {
    override def contains(id: String): Boolean = pattern.matcher(id).matches
    override def missing(document: MetadataDocument): Seq[String] = Nil
    override def toString: String = pattern.pattern
  }
}

/** Identifies the answer of a metadata service, for example an ETag, so that the same answer is not sent again. */
final case class Tag(value: String)

/** An answer of a metadata service. */
sealed trait MetadataAnswer

object MetadataAnswer {

  /** The document has not changed since the answer with the given tag. */
  case object Unchanged extends MetadataAnswer

  /**
   * @param tag
   *   identifies the answer; empty if the service has no tags
   */
  final case class Found(document: MetadataDocument, tag: Option[Tag]) extends MetadataAnswer
}

/** Returns the physical streams of logical streams. Only one thread of the driver uses it; it may block. */
trait StreamMetadataService extends AutoCloseable {

  /** The address of the service for messages, without credentials. */
  def address: String

  /**
   * Returns the present document. It may also have logical streams that are not asked for.
   *
   * @param known
   *   the tag of the last answer
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE, KINESIS_METADATA_INVALID
   */
  def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer
}
