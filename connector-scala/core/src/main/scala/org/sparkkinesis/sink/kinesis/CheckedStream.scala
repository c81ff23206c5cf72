package org.sparkkinesis.sink.kinesis

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.StreamDescription

/**
 * Which stream it is, whatever name it is called by: the ARN tells account and region, and the time tells a stream from one that
 * was deleted and had the same name.
 *
 * @param endpoint
 *   empty for the region's own
 */
final case class StreamIdentity(arn: String, creationMillis: Long, endpoint: String) {
  def place: StreamPlace = StreamPlace(arn, endpoint)
}

/** Where a stream is, whether or not it has been deleted and created again. */
final case class StreamPlace(arn: String, endpoint: String)

/** A stream that was found to be there. */
final case class CheckedStream(stream: StreamRef, identity: StreamIdentity, maxRecordBytes: Int)

object CheckedStream {

  /**
   * @param stream
   *   as the user calls it
   * @param endpoint
   *   empty for the region's own
   */
  def of(stream: StreamRef, found: StreamDescription, endpoint: Option[String]): CheckedStream =
    CheckedStream(stream, StreamIdentity(found.arn, found.creationMillis, endpoint.getOrElse("")), found.maxRecordBytes)
}
