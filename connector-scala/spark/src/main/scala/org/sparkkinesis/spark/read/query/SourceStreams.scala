package org.sparkkinesis.spark.read.query

import scala.collection.concurrent.TrieMap

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.config.{MetadataOptions, ReadOptions}
import org.sparkkinesis.consume.MissingResource
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamMetadataService}
import org.sparkkinesis.model.StartingPosition
import org.sparkkinesis.plan.TaskRanges
import org.sparkkinesis.plan.offset.SourceOffset
import org.sparkkinesis.spark.connection.{Environment, ServiceFailure}
import org.sparkkinesis.spark.coordinator.{MissingStream, ShardFailed}
import org.sparkkinesis.spark.metadata.PatternMetadataService
import org.sparkkinesis.spark.session.check.LeftConsumers
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, RegisteredConsumers}
import org.sparkkinesis.spark.session.member.{ChangingStreams, ListedMembers, StreamMembers}
import org.sparkkinesis.spark.session.{FanOutConsumers, QueryPositions, StreamSession}
import org.sparkkinesis.spark.settings.ReadSettings

/**
 * The streams of one query, which may come and go while it is running, with their enhanced fan-out consumers. For the
 * query's thread; its methods may block.
 *
 * @param metadata
 *   names the physical streams of a query that reads logical streams
 */
final private[query] class SourceStreams(
    session: StreamSession,
    files: CheckpointFiles,
    environment: Environment,
    metadata: Option[StreamMetadataService]
) {
  import session.options

  private var isFixed = false

  /** The streams, if they come and go while the query is running. */
  lazy val members: Option[StreamMembers] = Option.when(session.isDynamic && !isFixed)(
    new StreamMembers(session, service, files, environment, prepare, initialPosition)
  )

  /** The streams, if they change only when the query restarts. */
  private lazy val named =
    Option.when(members.isEmpty)(new ListedMembers(session, files, joinPosition))

  def changing: ChangingStreams = members.orElse(named).get

  private val fanOut = Option.when(FanOutConsumers.isWanted(options))(
    session.fanOutConsumers(RegisteredConsumers(files, _))
  )

  private val left = new LeftConsumers(session, files, environment, changing.known(_))

  /** Deregisters the consumers of an earlier run that this run does not use, at the first call. */
  def deregisterLeft(): Unit = left.deregister(arn => fanOut.nonEmpty && session.isOpen(arn))

  /**
   * The settings with the enhanced fan-out consumers, which are registered when the query starts unless they exist.
   */
  private lazy val settingsAtStart: ReadSettings = {
    val atStart = named.fold(Set.empty[String])(_.listed)
    session.settings.copy(fanOut =
      fanOut.map(_.ensure(session.streams.valuesIterator.filter(stream => atStart(stream.arn)).toVector))
    )
  }

  /** The settings of the consumers. */
  def settings: ReadSettings = if (members.nonEmpty) session.settings else settingsAtStart

  /**
   * Opens the streams of a pattern for the whole run, for a trigger whose streams cannot change. Call it before
   * everything else.
   */
  def fix(): Unit = {
    session.openMatching()
    isFixed = true
  }

  private def service(known: Option[MetadataDocument]): StreamMetadataService = metadata.getOrElse(
    new PatternMetadataService(StreamMembers.Listed, known, () => session.matching())
  )

  /** The creation times of the streams that have consumers, in epoch milliseconds. Two threads prepare streams. */
  private val prepared = TrieMap.empty[String, Long]

  private def prepare(stream: PhysicalStream): Unit = fanOut.foreach { consumers =>
    left.await(stream.arn)
    val now = session.streams(stream.arn)
    session.setConsumer(stream.arn, consumers.ensure(now, stream.consumerArn))
    prepared(stream.arn) = now.creationMillis
  }

  /**
   * Registers or finds the enhanced fan-out consumers of streams that come and go and were recreated since their
   * consumers were found. Returns the streams that have none.
   */
  def prepareRecreated(offset: SourceOffset): Map[String, KinesisConnectorException] = {
    val recreated = offset.read.map(_.arn).filter(arn =>
      session.isOpen(arn) && prepared.get(arn).exists(_ != session.streams(arn).creationMillis)
    ).toVector
    recreated.flatMap { arn =>
      try {
        changing.known(arn).foreach(prepare)
        None
      } catch { case failure: KinesisConnectorException => Some(arn -> failure) }
    }.toMap
  }

  private val initialPositions = new QueryPositions(session, ReadOptions.initialPosition, StartingPosition.Latest)

  /** Returns the position of a stream when the query first started, and the time that "latest" means. */
  private def initialPosition(arn: String): (PositionOption, Long) = {
    val latest = latestMillis
    initialPositions.of(arn, latest) -> latest
  }

  /** Whether the query begins at a time that depends on its first start, such as that of the newest record. */
  def beginsAtStart: Boolean = initialPositions.isFromStart

  /** Returns the position of a stream that the list of an earlier run did not have. */
  private def joinPosition(arn: String, startMillis: Long): PositionOption =
    if (session.pattern.nonEmpty) options(MetadataOptions.newStreamPosition)
    else initialPositions.of(arn, startMillis)

  /** Returns the time that "latest" means: when the query was first started, which may have been an earlier run. */
  private def latestMillis: Long = files.startedMillis.fold(session.serviceClock.atLeast) { started =>
    // The file system may use the service's clock or this process's.
    Seq(started, session.serviceClock.ofOwn(started), session.serviceClock.atLeast).min
  }

  /** Returns the initial offset of a query that has no checkpoint. */
  def initialOffset: SourceOffset =
    members.fold {
      initialPositions.checkNames()
      val latest = latestMillis
      session.initialOffsets.of(initialPositions.of(_, latest), latest)
    }(_.initialOffset)

  /** Returns the position of the streams that this run reads, if they change only when the query restarts. */
  def listed(mended: SourceOffset, from: SourceOffset): SourceOffset = named.fold(from)(_.current(mended, from))

  def explain(gone: MissingStream): KinesisConnectorException = gone.failure match {
    case failed: ShardFailed => explain(failed)
    case listing: KinesisConnectorException => listing
    case other => throw other
  }

  def explain(failed: ShardFailed): KinesisConnectorException =
    if (MissingResource.of(failed.error).contains(MissingResource.Consumer))
      FanOutConsumers.isGone(failed.error, failed.shard.stream, settings)
    else ServiceFailure.explain(failed.error, failed.shard.toString, settings.client(failed.shard.stream))

  /** Returns the logical streams of what a task reads by the ARN of the physical ones, if the query reads such. */
  def ids(task: TaskRanges, end: SourceOffset): Map[String, String] = members.fold(Map.empty[String, String]) { known =>
    task.ranges.iterator.map(_.shard.stream).distinct.flatMap(arn => known.idOf(arn, end).map(arn -> _)).toMap
  }

  /** Ends the search for streams. */
  def stopChanging(): Unit = members.foreach(_.close())

  /** Deregisters the enhanced fan-out consumers that this run need not keep. */
  def close(): Unit = fanOut.foreach(_.close())
}
