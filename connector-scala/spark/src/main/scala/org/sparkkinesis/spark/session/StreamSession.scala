package org.sparkkinesis.spark.session

import java.util.concurrent.TimeUnit
import java.util.regex.Pattern

import scala.collection.immutable.SortedMap
import scala.collection.mutable

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.config.{ConnectionOptions, MetadataOptions, Options}
import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors, OptionErrors}
import org.sparkkinesis.event.{EventSink, Losses}
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.model.{Shard, ShardId, StreamRef}
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}
import org.sparkkinesis.service.{KinesisService, ShardFilter, StreamDescription}
import org.sparkkinesis.sink.kinesis.StreamIdentity
import org.sparkkinesis.spark.connection.{Connection, Environment, ServiceClock, StreamMetadata, TimeCheck}
import org.sparkkinesis.spark.coordinator.state.OpenShardTimes.ListingTime
import org.sparkkinesis.spark.metadata.MetadataSource
import org.sparkkinesis.spark.session.checkpoint.RegisteredConsumers
import org.sparkkinesis.spark.settings.{ReadSettings, StreamConnection}

/**
 * The streams of one read with their descriptions, on the driver. The creator closes it.
 *
 * The constructor checks everything that can be checked before data moves: options, region, credentials, and that the
 * streams exist. The physical streams of logical streams are opened later, when a metadata service names them.
 *
 * @param asked
 *   the query's names for log lines, before the streams are known
 */
final class StreamSession(val options: Options, asked: QueryContext, environment: Environment = Environment.OfJvm)
    extends AutoCloseable {
  import StreamSession._

  /** Whether the query reads logical streams. */
  val isLogical: Boolean = MetadataSource.isWanted(options)

  /** Selects the streams by their names, if the query has no list of them. */
  val pattern: Option[Pattern] = options.get(ConnectionOptions.streamPattern).filterNot(_ => isLogical)

  /** Whether streams are opened after the start, and may come and go. */
  val isDynamic: Boolean = isLogical || pattern.nonEmpty
  private val named: Seq[StreamRef] = if (isLogical) Nil else Connection.streams(options)
  if (isLogical) MetadataSource.ids(options)

  /** The settings for streams that are opened later. They have the region of the first stream. */
  private var openedFrom = Option.empty[ClientSettings]
  private val ownSettings = Option.unless(isLogical)(Connection.clientSettings(options, named.headOption))

  /** The settings of the query's own clients. */
  private def general: ClientSettings =
    ownSettings.orElse(openedFrom).getOrElse(throw new IllegalStateException("no stream is opened"))
  FanOutConsumers.check(options)

  /** One instance per region, endpoint and role, because each stream may have its own. */
  private val directories = mutable.HashMap.empty[ClientSettings, StreamMetadata]

  private val listing = pattern.map(new StreamListing(_, () => directory(general), general))

  /** The service's clock, known from the descriptions and the listings of the streams. */
  val serviceClock = new ServiceClock(environment.clock)

  @volatile private var found: SortedMap[String, Found] =
    try {
      val all = named.map { ref =>
        val client = Connection.clientSettings(options, Some(ref))
        Found(ref, directory(client).describe(ref), client)
      }
      if (!isLogical) Connection.checkStreams(options, all.map(_.ref) ++ listing.toSeq.flatMap(_.names()))
      all.groupBy(_.stream.arn).values.collectFirst { case Seq(one, other, _*) => throw isSame(one, other) }
      all.map(one => one.stream.arn -> one).to(SortedMap)
    } catch {
      case failure: Throwable =>
        close()
        throw failure
    }

  /** The streams by ARN. */
  @volatile private var described = found.map { case (arn, one) => arn -> one.stream }

  /** The streams by ARN, without those that are not opened yet. */
  def streams: SortedMap[String, StreamDescription] = described

  private val query = if (isDynamic) asked else asked.copy(streams = streams.keys.toSeq)

  /** Connections of the streams that were opened later, by ARN. */
  @volatile private var connected = Map.empty[String, StreamConnection]

  /** The identities of the streams at the service. */
  def identities: Iterable[StreamIdentity] = found.values.map { one =>
    StreamIdentity(one.stream.arn, one.stream.creationMillis, one.client.endpoint.getOrElse(""))
  }

  private val settingsAtStart: ReadSettings =
    ReadSettings(options, found.map { case (arn, one) => arn -> one.client.forStream(ref(arn)) }.toMap)
      .copy(query = query, fanOut = Option.when(isDynamic && FanOutConsumers.isWanted(options))(Map.empty))
  @volatile private var currentSettings = settingsAtStart

  /** The settings with every stream that is opened. */
  def settings: ReadSettings = currentSettings

  /** Connections of the streams that were opened later, by ARN. */
  def connections: Map[String, StreamConnection] = connected

  def isOpen(arn: String): Boolean = found.contains(arn)

  /** Returns the offset without streams that are not open. Nothing is read of those that are parked. */
  def opened(offset: SourceOffset): SourceOffset =
    if (offset.streams.keysIterator.forall(isOpen)) offset
    else offset.copy(streams = offset.streams.filter { case (arn, stream) => stream.isParked || isOpen(arn) })

  /**
   * Opens a stream that the options do not name: one that a metadata service names, that matches the pattern, or of the
   * checkpoint. A stream that is open is described again.
   *
   * @param mustBeOwn
   *   whether the stream must belong to the account of the query's credentials. The first call then has the stream's
   *   name only, which never leaves that account.
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_FORBIDDEN, KINESIS_STREAM_NOT_FOUND, KINESIS_STREAM_UNUSABLE, KINESIS_ACCESS_DENIED, …
   */
  def open(stream: PhysicalStream, mustBeOwn: Boolean): Unit = {
    val base = baseFor(stream)
    val connection = Connection.of(options, stream, stream.consumerArn)
    val client = connection.client(base)
    val description = directory(client).describe(refOf(stream, mustBeOwn))
    if (description.arn != stream.arn) throw MetadataErrors.forbidden(
      stream = stream.arn,
      reason = s"The stream of this name in the account of the query's credentials is ${description.arn}",
      option = MetadataOptions.metadataAllowedAccounts.key
    )
    synchronized {
      forgetIfOther(description)
      found += stream.arn -> Found(stream.stream, description, client)
      described += stream.arn -> description
      reach(stream.arn, connection, base)
    }
  }

  private def refOf(stream: PhysicalStream, mustBeOwn: Boolean): StreamRef =
    if (mustBeOwn) StreamRef.ByName(stream.stream.name) else stream.stream

  private def baseFor(stream: PhysicalStream): ClientSettings = synchronized {
    val settings = openedFrom.getOrElse(Connection.joining(options, stream.stream.region))
    openedFrom = Some(settings)
    settings
  }

  /** Returns the client for a stream that need not be open. */
  def service(stream: PhysicalStream): KinesisService = directory(clientOf(stream)).service

  private def clientOf(stream: PhysicalStream): ClientSettings =
    found.get(stream.arn).fold(Connection.of(options, stream, stream.consumerArn).client(baseFor(stream)))(_.client)

  /** Takes over the endpoint, role and consumer of an opened stream, if they changed. */
  def connect(stream: PhysicalStream): Unit = synchronized {
    val known = connected.get(stream.arn)
    val now = Connection.of(options, stream, stream.consumerArn.orElse(known.flatMap(_.consumerArn)))
    if (!known.contains(now)) openedFrom.foreach { base =>
      found.get(stream.arn).foreach(one => found += stream.arn -> one.copy(client = now.client(base)))
      reach(stream.arn, now, base)
    }
  }

  /** Sets the enhanced fan-out consumer of an opened stream. */
  def setConsumer(arn: String, consumerArn: String): Unit = synchronized {
    for (known <- connected.get(arn); base <- openedFrom) reach(arn, known.copy(consumerArn = Some(consumerArn)), base)
  }

  private def reach(arn: String, connection: StreamConnection, base: ClientSettings): Unit = {
    connected += arn -> connection
    currentSettings = settingsAtStart.copy(joining = Some(base)).withStreams(connected)
  }

  /** Receives the query's events on the driver. */
  val events: EventSink = environment.events(query)

  /** Reports the losses that the driver finds. */
  val losses: Losses = environment.losses(settings.failOnDataLoss, events)

  /** Opens the streams whose names match the pattern now, for a read whose streams stay the same. */
  def openMatching(): Unit = if (pattern.nonEmpty)
    matching().foreach(stream => if (!isOpen(stream.value)) open(PhysicalStream(stream), mustBeOwn = true))

  /** Lists the streams of the account and region whose names match the pattern. */
  def matching(): Seq[StreamRef.ByArn] = listing.fold(Seq.empty[StreamRef.ByArn])(_.streams())

  /** Returns the shards of the current listing; some may be missing during a reshard. */
  def listShards(arn: String): Seq[Shard] =
    directory(found(arn).client).shards(ref(arn), ShardFilter.FromTrimHorizon)

  /** The shards of the opened streams, by complete listings for the start of a read. */
  val shards: StreamShards = new StreamShards(
    (arn, filter) => directory(found(arn).client).allShards(ref(arn), filter, settings.failOnDataLoss),
    () => ListingTime(environment.clock.nanoTime, serviceClock.atLeast)
  )

  /** Describes the stream as it is now. */
  def describe(arn: String): StreamDescription = directory(found(arn).client).describe(ref(arn))

  /** Describes an opened stream again: it may have been recreated, and its retention period may have changed. */
  def refresh(arn: String): Unit = refresh(arn, describe(arn))

  /** Replaces the description of an opened stream. */
  def refresh(arn: String, now: StreamDescription): Unit = synchronized {
    forgetIfOther(now)
    found += arn -> found(arn).copy(stream = now)
    described += arn -> now
  }

  /** A stream that was recreated may have other shards of the same names. */
  private def forgetIfOther(now: StreamDescription): Unit =
    if (described.get(now.arn).exists(_.creationMillis != now.creationMillis)) shards.forget(now.arn)

  /** Describes the stream as it is now, in any state, or fails within seconds. */
  def probe(arn: String): StreamDescription = directory(found(arn).client).probe(ref(arn))

  /** Returns the present retention period of a stream, or fails within seconds. */
  def retentionHours(arn: String): Int = probe(arn).retentionHours

  private val time = new TimeCheck(serviceClock, () => described.keys, probe(_), events)

  /**
   * Requests the service's time if this process's clock shows that the machine was suspended since its last answer.
   * Returns the failure if the time is not known. May block for some seconds.
   */
  def confirmTime(): Option[KinesisConnectorException] = time.confirm()

  /**
   * Requests the service's time by a description of a stream that need not be open. An event reports a failure. May
   * block for some seconds.
   */
  def learnTime(stream: PhysicalStream, mustBeOwn: Boolean): Unit =
    time.ask(stream.arn)(directory(clientOf(stream)).probe(refOf(stream, mustBeOwn))): Unit

  /** Whether the service still has this shard, also if a listing lacks it. */
  def hasShard(arn: String, shard: ShardId): Boolean = directory(found(arn).client).hasShard(ref(arn), shard)

  /** Finds the offsets at which queries and streams begin. */
  val initialOffsets: InitialOffsets = new InitialOffsets(this)

  /** Returns a time, in epoch milliseconds, before which the records of an opened stream have expired. */
  def oldestMillis(arn: String): Long =
    serviceClock.atLeast - TimeUnit.HOURS.toMillis(streams(arn).retentionHours.toLong)

  /** Creates the manager of the enhanced fan-out consumers. The caller closes it. */
  def fanOutConsumers(record: String => RegisteredConsumers): FanOutConsumers = new FanOutConsumers(
    options,
    () => settings,
    arn => directory(found(arn).client).service,
    record,
    directory(general).scheduler,
    environment,
    events
  )

  override def close(): Unit = synchronized(directories.values.foreach(_.close()))

  /** Synchronized, because discovery calls it from its own thread. */
  private def directory(client: ClientSettings): StreamMetadata = synchronized(directories.getOrElseUpdate(
    client,
    new StreamMetadata(client, RetryPolicies.of(options), RetryRules.of(options), serviceClock, environment, asked)
  ))

  private def ref(arn: String): StreamRef =
    StreamRef.parse(arn).getOrElse(StreamRef.ByName(found(arn).stream.name))

  private def isSame(one: Found, other: Found): KinesisConnectorException = OptionErrors.invalid(
    option = if (one.ref.arn.isEmpty) ConnectionOptions.streamName.key else ConnectionOptions.streamARN.key,
    value = s"${one.ref},${other.ref}",
    reason = s"Both are the stream ${one.stream.arn} to the service.",
    expected = "streams that differ"
  )
}

object StreamSession {

  /** A stream as the options name it, its description, and the client settings that found it. */
  final private case class Found(ref: StreamRef, stream: StreamDescription, client: ClientSettings)
}
