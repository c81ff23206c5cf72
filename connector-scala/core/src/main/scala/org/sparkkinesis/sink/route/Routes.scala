package org.sparkkinesis.sink.route

import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamState}

/**
 * The physical streams that take the records of each logical stream, as one version of the metadata has them. A write
 * keeps its routes from its beginning to its end. Immutable and serializable.
 *
 * @param byId
 *   streams by logical stream, in the order of their ARNs
 */
final case class Routes(version: Long, byId: Map[String, Vector[PhysicalStream]]) {

  /** Returns the streams of a logical stream; empty if it is unknown or has no active stream. */
  def of(id: String): Vector[PhysicalStream] = byId.getOrElse(id, Vector.empty)

  def all: Iterable[PhysicalStream] = byId.values.flatten
}

object Routes {

  /** Returns the active streams with a weight. The others take no new records. */
  def of(document: MetadataDocument): Routes = Routes(
    document.version,
    document.streams.toMap.map { case (id, streams) =>
      id -> streams.filter(stream => stream.state == StreamState.Active && stream.weight > 0)
        .map(_.copy(startAt = None, after = Set.empty, consumerArn = None)).sortBy(_.arn)
    }
  )
}
