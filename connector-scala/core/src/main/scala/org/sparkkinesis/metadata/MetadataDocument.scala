package org.sparkkinesis.metadata

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.{Choice, PositionOption}
import org.sparkkinesis.model.StreamRef

/** State of a physical stream, which determines whether queries read it and write to it. */
sealed abstract class StreamState(val word: String) extends Choice

object StreamState {

  /** The stream is read and written. */
  case object Active extends StreamState("active")

  /** The stream is not written any more. Readers read it to its end. */
  case object Draining extends StreamState("draining")

  /** The stream is kept ready. It is neither read nor written. */
  case object Standby extends StreamState("standby")
  val all: Seq[StreamState] = Seq(Active, Draining, Standby)
}

/**
 * One Kinesis stream of a logical stream. `toString` hides the external id.
 *
 * @param endpoint
 *   address of the service, as for option `endpoint`; without it the query's own applies. This also holds for the role.
 * @param consumerArn
 *   ARN of an existing enhanced fan-out consumer
 * @param weight
 *   share of the records that a sink with weights writes to the stream, relative to the others
 * @param priority
 *   order in which a sink prefers the streams; the highest one first
 * @param startAt
 *   position from which a reader that does not know the stream reads it
 * @param after
 *   ARNs of the streams that are read to their end before a record of this stream is read
 */
final case class PhysicalStream(
    stream: StreamRef.ByArn,
    state: StreamState = StreamState.Active,
    endpoint: Option[String] = None,
    role: Option[String] = None,
    externalId: Option[String] = None,
    consumerArn: Option[String] = None,
    weight: Int = PhysicalStream.Weight,
    priority: Int = 0,
    startAt: Option[PositionOption] = None,
    after: Set[String] = Set.empty
) {
  def arn: String = stream.value
  override def toString: String = s"$arn (${state.word})"
}

object PhysicalStream {

  /** The weight of a stream for which the document has none. */
  val Weight = 100

  /** Returns the stream with this ARN, or `None` if the text is no ARN of a stream. */
  def ofArn(arn: String): Option[PhysicalStream] =
    StreamRef.parse(arn).collect { case ref: StreamRef.ByArn => PhysicalStream(ref) }
}

/**
 * The answer of a metadata service: the physical streams of each logical stream.
 *
 * No stream occurs twice, and the streams that wait for others through `after` form no cycle.
 *
 * @param version
 *   increases with each change
 * @param streams
 *   physical streams by logical stream id
 */
final case class MetadataDocument(version: Long, streams: SortedMap[String, Vector[PhysicalStream]]) {

  /** Every physical stream by its ARN. */
  lazy val physical: SortedMap[String, PhysicalStream] =
    streams.valuesIterator.flatten.map(stream => stream.arn -> stream).to(SortedMap)

  /** The logical stream id of each physical stream by its ARN. */
  lazy val idOf: Map[String, String] = streams.iterator.flatMap { case (id, all) => all.map(_.arn -> id) }.toMap

  /** Whether some stream is read only after others. */
  lazy val isOrdered: Boolean = streams.valuesIterator.exists(_.exists(_.after.nonEmpty))

  /** Returns the document with the logical streams that are asked for. */
  def select(ids: StreamIds): MetadataDocument = copy(streams = streams.filter { case (id, _) => ids.contains(id) })

  override def toString: String = s"version $version: " +
    streams.map { case (id, all) => s"$id = ${all.mkString(", ")}" }.mkString("; ")
}
