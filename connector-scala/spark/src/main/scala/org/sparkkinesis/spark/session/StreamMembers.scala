package org.sparkkinesis.spark.session

import scala.util.control.NonFatal

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.config.MetadataOptions
import org.sparkkinesis.config.value.{OnStreamRemoved, PositionOption}
import org.sparkkinesis.error.{MetadataErrors, ReadErrors}
import org.sparkkinesis.event.{MetadataChanged, StreamPending}
import org.sparkkinesis.metadata._
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.plan.member.{Membership, MembershipHistory, MetadataEntry}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.metadata.{MetadataSource, MetadataStatus, MetadataWatcher}
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, MetadataLog}

/**
 * The streams of a query that reads logical streams. A thread of its own asks the metadata service, prepares the
 * streams that it adds, and writes each version to the metadata log. The query's thread takes the versions in between
 * two batches.
 *
 * @param prepare
 *   registers or finds the enhanced fan-out consumer of a stream that was opened; called on the thread that asks
 * @param initial
 *   the position of the streams of the very first version, and the time that "latest" means
 */
final class StreamMembers(
    session: StreamSession,
    service: StreamMetadataService,
    files: CheckpointFiles,
    environment: Environment,
    prepare: PhysicalStream => Unit,
    initial: => (PositionOption, Long)
) extends AutoCloseable {
  private val options = session.options
  private val log = new MetadataLog(files)
  private val allowed = AllowList.of(options)
  private val onRemoved = options(MetadataOptions.onStreamRemoved)
  private val history = new MembershipHistory(
    log.newest,
    onRemoved,
    options(MetadataOptions.removalConfirmations),
    options(MetadataOptions.removedStreamRetention).toMillis
  )
  private val watcher = new MetadataWatcher(
    service,
    MetadataSource.ids(options),
    options,
    environment,
    session.events,
    log.newest.map(_.document)
  )(answered)

  @volatile private var pending = Map.empty[String, String]
  @volatile private var failure = Option.empty[Throwable]

  /** The last version of this run, for a run that ends. */
  private var pinned = Option.empty[Long]
  private var isBegun = false

  /** The state between two batches: the offset of the query, and the streams as they are now. */
  private var present = Option.empty[(SourceOffset, SourceOffset)]

  /**
   * Starts to ask the service. Waits for the first answer only if the checkpoint has no version.
   *
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE
   */
  def begin(): Unit = if (!isBegun) {
    isBegun = true
    if (log.newest.isEmpty) watcher.awaitFirst() else watcher.start()
    ()
  }

  /**
   * Fixes the version of the metadata for a run that ends: the newest one. Waits for an answer of the service, unless
   * it does not answer within the start timeout.
   */
  def pin(): Unit = if (pinned.isEmpty) {
    begin()
    watcher.awaitAnswer()
    pinned = log.newest.map(_.number)
  }

  /** The offset of the very first start. */
  def initialOffset: SourceOffset = {
    begin()
    Membership.takeIn(SourceOffset(Nil), log.entries.take(1))
  }

  /** Throws the error that ends the query, if there is one. */
  def check(): Unit = {
    begin()
    watcher.check()
    failure.foreach(throw _)
  }

  /** Opens the streams of an offset that are read and that this run has not opened yet. */
  def open(offset: SourceOffset): Unit = offset.read.filterNot(stream => session.isOpen(stream.arn)).foreach { stream =>
    val known = log.entries.reverseIterator.flatMap(_.document.physical.get(stream.arn)).nextOption()
    known.orElse(
      StreamRef.parse(stream.arn).collect { case arn: StreamRef.ByArn => PhysicalStream(arn) }
    ).foreach(ready)
  }

  /**
   * Returns the offset of the query's next batch with the newest streams and phases.
   *
   * @param start
   *   the end of the last batch
   * @param from
   *   the position of the query, at `start` or after it if there was nothing to plan
   * @param isDrained
   *   whether every record of a stream was planned that arrived up to a time
   */
  def evolve(start: SourceOffset, from: SourceOffset, isDrained: (String, Long) => Boolean): SourceOffset = {
    val now = present.collect { case (at, last) if (at eq start) || at == start => last }.getOrElse(from)
    val entries = log.entries.filter(entry => pinned.forall(entry.number <= _))
    if (now.version == 0) entries.headOption.foreach(adopt(now, _))
    val moved =
      if (entries.lastOption.forall(_.number <= now.version)) now else Membership.takeIn(now, entries)
    val settled = Membership.park(
      moved,
      session.serviceClock.atLeast,
      options(MetadataOptions.drainGrace).toMillis,
      options(MetadataOptions.drainTimeout).toMillis,
      isDrained
    )
    if (settled ne now) PhaseEvents.of(now, settled).foreach(session.events.emit)
    present = Some(start -> settled)
    settled
  }

  /**
   * Checks that the first version has every stream of a checkpoint that was written without a metadata service. They
   * are read on from their positions.
   */
  private def adopt(offset: SourceOffset, first: MetadataEntry): Unit =
    offset.streams.keysIterator.find(!first.wishes.contains(_)).foreach { other =>
      throw ReadErrors.checkpointOfOtherStream(
        checkpointStream = other,
        stream = first.wishes.keys.mkString(", "),
        reason = "The metadata document does not name the stream of the checkpoint, so its records would be lost."
      )
    }

  /** Records the end of a planned batch, from which the next one continues. */
  def note(end: SourceOffset): Unit = present = Some(end -> end)

  /** Replaces the streams that [[evolve]] returned. */
  def replace(start: SourceOffset, now: SourceOffset): Unit = present = Some(start -> now)

  /** The streams that wait until other streams are read. */
  def waiting(offset: SourceOffset): Set[String] =
    version(offset).fold(Set.empty[String])(entry => Membership.waiting(offset, entry.document))

  /** Returns the start of a batch with the streams that joined in it. */
  def withJoined(start: SourceOffset, end: SourceOffset): SourceOffset = Membership.withJoined(
    start,
    end,
    (arn, first, last) =>
      log.entries.iterator.filter(entry => entry.number > first && entry.number <= last)
        .flatMap(_.joins.get(arn)).nextOption().getOrElse(throw ReadErrors.offsetInvalid(
          reason = s"the metadata log does not have the position from which $arn was read",
          offset = s"versions $first to $last"
        ))
  )

  /** Records that no batch before this offset runs again. */
  def committed(offset: SourceOffset): Unit = log.purge(offset.version)

  def metrics(offset: Option[SourceOffset]): Map[String, String] =
    MemberMetrics.of(status, offset.map(taken => present.fold(taken)(_._2)), pending.size)

  def status: MetadataStatus = watcher.status

  override def close(): Unit = watcher.close()

  private def version(offset: SourceOffset): Option[MetadataEntry] =
    log.entries.reverseIterator.find(_.number <= offset.version)

  /** Handles an answer of the service, on the thread that asks. */
  private def answered(document: MetadataDocument): Unit = {
    val removed = history.removed(document)
    if (removed.nonEmpty && onRemoved == OnStreamRemoved.Fail) failure =
      Some(MetadataErrors.removed(streams = removed.toSeq.sorted.mkString(", "), service = service.address))
    else {
      val isFirst = history.newest.isEmpty
      val prepared = history.toPrepare(document).map(arn => join(document.physical(arn), isFirst))
      val failed = prepared.collect { case Left(why) => why }
      pending = failed.map { case (arn, why) => arn -> String.valueOf(why.getMessage) }.toMap
      val joins = prepared.collect { case Right(join) => join }
      // Without any stream there is nothing to start with.
      if (isFirst && joins.isEmpty) failed.headOption.foreach { case (_, why) => throw why }
      reconnect(document)
      history.next(document, removed, joins, session.serviceClock.atLeast).foreach { entry =>
        val difference = MetadataDiff.between(
          history.newest.fold(document.copy(streams = document.streams.empty))(_.document),
          document
        )
        log.append(entry)
        history.note(entry)
        session.events.emit(MetadataChanged(document.version, difference.toString))
      }
    }
  }

  private def join(stream: PhysicalStream, isFirst: Boolean): Either[(String, Throwable), StreamOffset] =
    try {
      ready(stream)
      val (position, latest) = stream.startAt.map(_ -> session.serviceClock.atLeast).getOrElse(
        if (isFirst) initial else options(MetadataOptions.newStreamPosition) -> session.serviceClock.atLeast
      )
      Right(session.initialOffset(stream.arn, position, latest))
    } catch {
      case interrupted: InterruptedException => throw interrupted
      case NonFatal(why) =>
        Futures.interruptOf(why).foreach(throw _)
        session.events.emit(StreamPending(stream.arn, String.valueOf(why.getMessage)))
        Left(stream.arn -> why)
    }

  /** Opens a stream with its consumer. */
  private def ready(stream: PhysicalStream): Unit = {
    session.open(stream, mustBeOwn = allowed.mustBeOwn(stream))
    prepare(stream)
  }

  private def reconnect(document: MetadataDocument): Unit = document.physical.valuesIterator
    .filter(stream => session.isOpen(stream.arn)).foreach(session.connect)
}
