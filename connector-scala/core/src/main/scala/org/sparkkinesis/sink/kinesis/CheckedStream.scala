package org.sparkkinesis.sink.kinesis

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.StreamDescription

/**
 * Identity of a stream, independent of the name that refers to it. The ARN identifies account and region, and the
 * creation time distinguishes a recreated stream.
 *
 * @param endpoint
 *   empty for the endpoint of the region
 */
final case class StreamIdentity(arn: String, creationMillis: Long, endpoint: String) {
  def place: StreamPlace = StreamPlace(arn, endpoint)
}

/** Address of a stream, which stays the same when the stream is deleted and created again. */
final case class StreamPlace(arn: String, endpoint: String)

/** A stream that was described successfully. */
final case class CheckedStream(stream: StreamRef, identity: StreamIdentity, maxRecordBytes: Int)

object CheckedStream {

  /**
   * @param stream
   *   the reference that the user wrote
   * @param endpoint
   *   empty for the endpoint of the region
   */
  def of(stream: StreamRef, found: StreamDescription, endpoint: Option[String]): CheckedStream =
    CheckedStream(stream, StreamIdentity(found.arn, found.creationMillis, endpoint.getOrElse("")), found.maxRecordBytes)
}
