package org.sparkkinesis.spark.read

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.{ConnectionOptions, Options, Position}
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.model.{Shard, StartingPosition, StreamRef}
import org.sparkkinesis.plan.{SourceOffset, StreamOffset}
import org.sparkkinesis.service.{ShardFilter, StreamDescription}
import org.sparkkinesis.shard.InitialShards
import org.sparkkinesis.spark.connection.{Connection, StreamDirectory}

/**
 * The streams of one read, described by the service, on the driver. The one who made it closes it.
 *
 * Making one checks everything that can be checked before data moves: options, region, credentials, that the streams are there.
 */
final class StreamSession(val options: Options) extends AutoCloseable {
  private val named: Seq[StreamRef] = Connection.streams(options)
  val settings: ReadSettings = ReadSettings(options, Connection.clientSettings(options, named.headOption))
  FanOutConsumers.check(options)
  private val directory = new StreamDirectory(settings.client, settings.retries)

  /** By ARN. */
  val streams: SortedMap[String, StreamDescription] =
    try refs.map(ref => directory.describe(ref)).map(found => found.arn -> found).to(SortedMap)
    catch {
      case failure: Throwable =>
        directory.close()
        throw failure
    }

  def listShards(arn: String, filter: ShardFilter = ShardFilter.FromTrimHorizon): Seq[Shard] =
    directory.shards(StreamRef.parse(arn).getOrElse(StreamRef.ByName(streams(arn).name)), filter)

  /** Where a query begins. What is "latest" now is pinned to a time, so that it still means the same after a restart. */
  def initialOffset(position: Position, nowMillis: Long): SourceOffset = SourceOffset(streams.values.map { stream =>
    val pinned = StreamSession.pin(position, nowMillis)
    val all = listShards(stream.arn)
    val filter = InitialShards.filter(pinned.default)
    val listed = if (filter == ShardFilter.FromTrimHorizon) all else listShards(stream.arn, filter)
    StreamOffset(stream.name, stream.arn, stream.creationMillis, InitialShards.choose(stream.name, pinned, listed, all))
  })

  /** Makes sure of the enhanced fan-out consumers; the one who asked closes them. */
  def fanOutConsumers(): FanOutConsumers =
    new FanOutConsumers(options, settings, _ => directory.service, directory.scheduler)

  override def close(): Unit = directory.close()

  private def refs: Seq[StreamRef] = options.get(ConnectionOptions.streamPattern).fold(named) { pattern =>
    val found = directory.streamNames().filter(name => pattern.matcher(name).matches)
    if (found.isEmpty)
      throw KinesisConnectorException(
        "KINESIS_STREAM_NOT_FOUND",
        "stream" -> pattern.pattern,
        "where" -> settings.client.endpoint.orElse(settings.client.region).getOrElse(""),
        "serviceMessage" -> "no stream's name matches the pattern"
      )
    found.map(StreamRef.ByName(_))
  }
}

object StreamSession {
  def pin(position: Position, nowMillis: Long): Position = {
    def at(one: StartingPosition): StartingPosition =
      if (one == StartingPosition.Latest) StartingPosition.AtTimestamp(nowMillis) else one
    Position(at(position.default), position.shards.map { case (shard, one) => shard -> at(one) })
  }
}
