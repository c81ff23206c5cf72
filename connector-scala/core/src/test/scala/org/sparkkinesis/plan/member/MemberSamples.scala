package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.metadata._
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.plan.offset.StreamPhase.Active
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}

/** Three streams of the logical stream `orders`, with the documents and offsets that name them. */
trait MemberSamples {
  protected def arn(name: String): String = s"arn:aws:kinesis:us-east-1:123456789012:stream/$name"
  protected val (a, b, c) = (arn("a"), arn("b"), arn("c"))

  protected def physical(arn: String, state: StreamState = StreamState.Active, after: Set[String] = Set.empty) =
    StreamRef.parse(arn) match {
      case Some(ref: StreamRef.ByArn) => PhysicalStream(ref, state, after = after)
      case other => throw new IllegalArgumentException(s"$other")
    }

  protected def document(version: Long, streams: PhysicalStream*): MetadataDocument =
    MetadataDocument(version, SortedMap("orders" -> streams.toVector))

  protected def join(arn: String, phase: StreamPhase = Active): StreamOffset =
    StreamOffset(arn, arn, 1, SortedMap(ShardId.ofIndex(0) -> ShardPosition.Horizon), phase = phase)

  protected def offset(version: Long, streams: StreamOffset*): SourceOffset =
    SourceOffset(streams).copy(version = version)
}
