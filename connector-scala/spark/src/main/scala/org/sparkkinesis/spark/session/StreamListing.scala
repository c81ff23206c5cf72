package org.sparkkinesis.spark.session

import java.util.regex.Pattern

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.spark.connection.StreamMetadata

/**
 * Lists the streams of an account and region whose names match a pattern. Its methods block, and throw
 * KINESIS_STREAM_NOT_FOUND if there is none, KINESIS_ACCESS_DENIED, …
 */
final private[session] class StreamListing(
    pattern: Pattern,
    directory: () => StreamMetadata,
    settings: => ClientSettings
) {
  import StreamListing._

  /** The part of the ARNs before the name. */
  @volatile private var prefix = Option.empty[String]

  /** Returns the names that match; there is at least one. */
  def names(): Seq[StreamRef] = {
    val names = directory().streamNames().filter(name => pattern.matcher(name).matches)
    if (names.isEmpty)
      throw ServiceErrors.streamNotFound(
        stream = pattern.pattern,
        where = settings.endpoint.orElse(settings.region).getOrElse(""),
        serviceMessage = "no stream's name matches the pattern"
      )
    names.map(StreamRef.ByName(_))
  }

  /** Returns the streams that match. All of them are in the account of the first one that can be described. */
  def streams(): Seq[StreamRef.ByArn] = {
    val matching = names()
    val arnPrefix = prefix.getOrElse(prefixOf(matching))
    prefix = Some(arnPrefix)
    matching.flatMap(ref => StreamRef.parse(arnPrefix + ref.name)).collect { case arn: StreamRef.ByArn => arn }
  }

  /** Streams that are being created or deleted cannot be described. */
  @scala.annotation.tailrec
  private def prefixOf(names: Seq[StreamRef]): String = {
    val first =
      try Right(directory().describe(names.head))
      catch { case error: KinesisConnectorException if Unusable(error.condition) => Left(error) }
    first match {
      case Right(stream) => stream.arn.stripSuffix(stream.name)
      case Left(error) => if (names.tail.isEmpty) throw error else prefixOf(names.tail)
    }
  }
}

private object StreamListing {

  /** Conditions of a stream that is being created or was deleted. */
  val Unusable = Set("KINESIS_STREAM_UNUSABLE", "KINESIS_STREAM_NOT_FOUND")
}
