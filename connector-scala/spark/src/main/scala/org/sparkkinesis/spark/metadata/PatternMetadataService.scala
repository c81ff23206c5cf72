package org.sparkkinesis.spark.metadata

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata._
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.Operation

/**
 * Answers with the streams of an account and region whose names match a pattern. The version of its document increases
 * when the streams change, and goes on from the version of an earlier run.
 *
 * @param known
 *   the last document of an earlier run
 * @param matching
 *   lists the streams whose names match; may block
 */
final private[spark] class PatternMetadataService(
    id: String,
    known: Option[MetadataDocument],
    matching: () => Seq[StreamRef.ByArn]
) extends StreamMetadataService {
  private var last = known

  override def address: String = Operation.ListStreams.name

  override def fetch(ids: StreamIds, tag: Option[Tag]): MetadataAnswer = {
    val before = last
    val found = PatternMetadataService.document(id, before, matching())
    last = Some(found)
    val current = Tag(found.version.toString)
    if (tag.contains(current)) MetadataAnswer.Unchanged else MetadataAnswer.Found(found, Some(current))
  }

  override def close(): Unit = ()
}

private[spark] object PatternMetadataService {

  /** Returns the document with these streams. Its version is that of the last one if the streams are the same. */
  def document(id: String, last: Option[MetadataDocument], streams: Seq[StreamRef.ByArn]): MetadataDocument = {
    val all = streams.sortBy(_.value).map(PhysicalStream(_)).toVector
    last.filter(_.physical.values.toSeq == all.sortBy(_.arn)).getOrElse(
      MetadataDocument(last.fold(1L)(_.version + 1), SortedMap(id -> all))
    )
  }
}
