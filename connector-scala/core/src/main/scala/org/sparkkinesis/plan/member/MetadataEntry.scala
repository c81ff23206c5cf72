package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata.MetadataDocument
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
 */
final case class MetadataEntry(
    number: Long,
    atMillis: Long,
    document: MetadataDocument,
    wishes: SortedMap[String, StreamWish],
    joins: SortedMap[String, StreamOffset]
)
