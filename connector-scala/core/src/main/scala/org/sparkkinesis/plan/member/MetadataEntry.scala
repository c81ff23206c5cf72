package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream}
import org.sparkkinesis.plan.offset.StreamOffset

/**
 * One entry of a query's metadata log: a version of the document with what it means for the streams of the query. It is
 * written before any offset names one of its streams, so that a batch that runs again reads the same records.
 *
 * @param number
 *   1 for the first entry, increasing by one
 * @param atMillis
 *   time of the entry by the service's clock, in epoch milliseconds
 * @param wishes
 *   every stream that the query knows, by its ARN, until its position is dropped
 * @param joins
 *   for each stream that this entry adds, the position from which it is read
 * @param former
 *   the known streams that the document does not name any more, as the newest document named them that had them. Those
 *   of newer documents come first.
 * @param absent
 *   for each known stream that the document does not name, the time of the first of the documents in a row that lack
 *   it, in epoch milliseconds by the service's clock
 */
final case class MetadataEntry(
    number: Long,
    atMillis: Long,
    document: MetadataDocument,
    wishes: SortedMap[String, StreamWish],
    joins: SortedMap[String, StreamOffset],
    former: MetadataDocument = MetadataEntry.NoStreams,
    absent: SortedMap[String, Long] = SortedMap.empty
) {

  /** Returns a known stream as the newest document named it that had it. */
  def physical(arn: String): Option[PhysicalStream] = document.physical.get(arn).orElse(former.physical.get(arn))

  /** Returns the logical stream of a known stream. */
  def idOf(arn: String): Option[String] = document.idOf.get(arn).orElse(former.idOf.get(arn))
}

object MetadataEntry {
  val NoStreams: MetadataDocument = MetadataDocument(0, SortedMap.empty[String, Vector[PhysicalStream]])
}
