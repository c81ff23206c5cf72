package org.sparkkinesis.spark.catalog

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.model.{Shard, StreamRef, StreamStatus}
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{ChangeRequest, ShardFilter, StreamDescription}
import org.sparkkinesis.spark.connection.{Connection, Environment, ServiceClock, StreamMetadata}

/**
 * The streams of an account in a region. Each method calls the service and blocks, also until a change is made; an
 * interrupt ends the wait. Errors are those of [[StreamMetadata]].
 */
final class StreamCatalog(options: Options, environment: Environment = Environment.OfJvm) {
  import StreamCatalog._

  /** Returns the names of all streams, in order. */
  def names(): Seq[String] = ask(None)(_.streamNames())

  /** Returns a stream in any state, if it exists. */
  def find(name: String): Option[StreamDescription] = ask(Some(name))(found(_, StreamRef.ByName(name)))

  /** Returns the shards that have records, and those that are open. */
  def shards(name: String): Seq[Shard] =
    ask(Some(name))(_.shards(StreamRef.ByName(name), ShardFilter.FromTrimHorizon))

  /** Creates a stream and waits until it can be used. */
  def create(name: String, properties: StreamProperties): StreamDescription = ask(Some(name)) { metadata =>
    val stream = StreamRef.ByName(name)
    metadata.change(stream, properties.create)
    make(metadata, awaitActive(metadata, stream, metadata.probe(stream)), properties)
  }

  /** Changes what differs from the properties, and waits until all is done. Returns nothing if there is no stream. */
  def alter(name: String, properties: StreamProperties): Option[StreamDescription] = ask(Some(name)) { metadata =>
    val stream = StreamRef.ByName(name)
    found(metadata, stream).map { before =>
      if (!before.status.isUsable) throw ServiceErrors.streamUnusable(stream = name, status = before.status.name)
      make(metadata, awaitActive(metadata, stream, before), properties)
    }
  }

  /** Deletes a stream and waits until it is gone. Returns whether it existed. */
  def delete(name: String): Boolean = ask(Some(name)) { metadata =>
    val stream = StreamRef.ByName(name)
    val exists = found(metadata, stream).isDefined
    if (exists) {
      metadata.change(stream, ChangeRequest.Delete)
      while (found(metadata, stream).isDefined) environment.waiting.sleep(Pause)
    }
    exists
  }

  /** @param found an active stream */
  private def make(
      metadata: StreamMetadata,
      found: StreamDescription,
      properties: StreamProperties
  ): StreamDescription = {
    // The service identifies a stream by its ARN if its mode changes.
    val stream = StreamRef.parse(found.arn).getOrElse(StreamRef.ByName(found.name))
    properties.changes(found).foldLeft(found) { (_, change) =>
      metadata.change(stream, change)
      awaitActive(metadata, stream, metadata.probe(stream))
    }
  }

  @tailrec
  private def awaitActive(metadata: StreamMetadata, stream: StreamRef, now: StreamDescription): StreamDescription =
    now.status match {
      case StreamStatus.Active => now
      case StreamStatus.Creating | StreamStatus.Updating =>
        environment.waiting.sleep(Pause)
        awaitActive(metadata, stream, metadata.probe(stream))
      case other => throw ServiceErrors.streamUnusable(stream = stream.name, status = other.name)
    }

  private def found(metadata: StreamMetadata, stream: StreamRef): Option[StreamDescription] =
    try Some(metadata.probe(stream))
    catch { case missing: KinesisConnectorException if ServiceErrors.isStreamNotFound(missing) => None }

  private def ask[A](name: Option[String])(call: StreamMetadata => A): A = {
    val metadata = new StreamMetadata(
      Connection.clientSettings(options, name.map(StreamRef.ByName(_))),
      RetryPolicies.of(options),
      RetryRules.of(options),
      new ServiceClock(environment.clock),
      environment
    )
    try call(metadata)
    finally metadata.close()
  }
}

private object StreamCatalog {

  /** Pause between two questions whether a change is made. It leaves most of the quota to other callers. */
  val Pause: FiniteDuration = 500.millis
}
