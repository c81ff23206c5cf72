package org.sparkkinesis.spark.session.member

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.config.{ConnectionOptions, MetadataOptions}
import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.metadata._
import org.sparkkinesis.plan.member.{Membership, MembershipHistory}
import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.metadata.{MetadataSource, MetadataStatus, MetadataWatcher}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, MetadataLog}

/**
 * The streams of a query that reads logical streams, or the streams whose names match a pattern. A thread of its own
 * asks the metadata service, prepares the streams that it adds, and writes each version to the metadata log. The
 * query's thread takes the versions in between two batches.
 *
 * A query with a pattern starts as if the streams were listed: its offsets have no version before the streams change.
 *
 * @param serviceAfter
 *   creates the metadata service, which this object closes; it receives the last document of an earlier run
 * @param prepare
 *   registers or finds the enhanced fan-out consumer of a stream that was opened; called on the thread that asks
 * @param initial
 *   returns the position of a stream of the very first version by its ARN, and the time that "latest" means
 */
final class StreamMembers(
    session: StreamSession,
    serviceAfter: Option[MetadataDocument] => StreamMetadataService,
    files: CheckpointFiles,
    environment: Environment,
    prepare: PhysicalStream => Unit,
    initial: String => (PositionOption, Long)
) extends ChangingStreams
    with AutoCloseable {
  private val options = session.options
  private val log = new MetadataLog(files)
  private val service = serviceAfter(log.newest.map(_.document))
  private val pattern = options.get(ConnectionOptions.streamPattern)
  private val history = new MembershipHistory(
    log.entries,
    options(MetadataOptions.onStreamRemoved),
    options(MetadataOptions.removalConfirmations),
    options(MetadataOptions.removedStreamRetention).toMillis
  )
  private val held = new HeldStreams(session)
  private val updates =
    new MemberUpdates(session, log, history, held, service.address, prepare, initial, () => parked, () => drained)
  private val firstVersion = new FirstVersion(session, log, history, pattern, updates.known)
  private val wanted = new WantedTimes(log, firstVersion.of)
  private val watcher = new MetadataWatcher(
    service,
    pattern.fold(MetadataSource.ids(options))(StreamIds.Matching(_)),
    options,
    environment,
    session.events,
    log.newest.map(_.document)
  )(updates.take)

  /** The last version of this run, for a run that ends. */
  private var pinned = Option.empty[Long]
  private var mustPin = false
  private var isBegun = false
  private val deleted = new DeletedStreams(session)

  private var changes = MemberChanges()

  /** The state between two batches: the offset of the query, and the streams as they are now. */
  @volatile private var present = Option.empty[(SourceOffset, SourceOffset)]

  /**
   * The streams that are not read any more, and since when. Those are left out that are read again as soon as they can
   * be reached.
   */
  private def parked: Map[String, Long] = present.fold(Map.empty[String, Long])(_._2.streams.collect {
    case (arn, StreamOffset(_, _, _, _, _, _, StreamPhase.Parked(since, _))) if !held.all.get(arn).contains(false) =>
      arn -> since
  })

  /** The streams that are parked and were read to their ends. */
  private def drained: Set[String] = present.fold(Set.empty[String])(_._2.streams.valuesIterator.collect {
    case stream if stream.isParkedDrained => stream.arn
  }.toSet)

  /**
   * Starts to ask the service. Waits for the first answer only if the checkpoint has no version.
   *
   * @param start
   *   the position in the checkpoint, if there is one
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_UNAVAILABLE, KINESIS_CHECKPOINT_OTHER_STREAM
   */
  private def begin(start: Option[SourceOffset]): Unit = if (!isBegun) {
    isBegun = true
    if (pattern.nonEmpty) start.foreach(firstVersion.restate)
    if (log.newest.isEmpty) watcher.awaitFirst() else watcher.start()
    ()
  }

  /**
   * Fixes the version of the metadata for a run that ends: the newest one. Waits for an answer of the service, unless
   * it does not answer within the start timeout. With a pattern, that happens at the first batch.
   */
  def pin(): Unit = if (pinned.isEmpty) {
    mustPin = true
    if (pattern.isEmpty) begin(None)
    if (isBegun) {
      watcher.awaitAnswer()
      pinned = log.newest.map(_.number)
    }
  }

  /** Whether the run ends with a version that is fixed. */
  def isPinned: Boolean = mustPin

  /** The offset of the very first start. */
  def initialOffset: SourceOffset = {
    begin(None)
    val first = Membership.takeIn(SourceOffset(Nil), log.entries.take(1))
    if (pattern.isEmpty) first
    else {
      firstVersion.note(first)
      first.copy(version = 0)
    }
  }

  /** Throws the error that ends the query, if there is one. */
  def check(start: SourceOffset): Unit = {
    begin(Some(start))
    watcher.check()
    updates.failure.foreach(throw _)
    if (mustPin) pin()
  }

  /**
   * Opens the streams of an offset that are read and that this run has not opened yet, with their consumers. A stream
   * for which that fails is held back, if others can be read.
   */
  def open(offset: SourceOffset): Unit = open(offset, offset)

  private def open(offset: SourceOffset, before: SourceOffset): Unit = {
    def isNew(stream: StreamOffset) = !updates.isReady(stream.arn) && !held.contains(stream.arn)
    val failed = offset.read.filter(isNew).flatMap(stream => failureOf(stream.arn).map(stream -> _)).toVector
    if (failed.nonEmpty && !offset.read.exists(stream => updates.isReady(stream.arn))) throw failed.head._2
    failed.foreach { case (stream, why) =>
      held.hold(stream, why, isDrained = before.streams.get(stream.arn).exists(wanted.isDrained(before, _)))
    }
  }

  /**
   * The streams that are held back, and whether every record of them was read. For one that is parked and absent, only
   * the newest offset says that.
   */
  private def heldBack(before: SourceOffset): Map[String, Boolean] = held.all.transform { (arn, wasDrained) =>
    before.streams.get(arn).filter(_.isParked && held.isAbsent(arn)).fold(wasDrained)(wanted.isDrained(before, _))
  }

  /** Opens the streams that a batch of an earlier run reads, also those that are held back. */
  override def openForBatch(start: SourceOffset, end: SourceOffset): Unit =
    deleted.openForBatch(start, end, updates.ready)

  private def failureOf(arn: String): Option[KinesisConnectorException] =
    try {
      updates.ready(arn)
      None
    } catch { case failure: KinesisConnectorException => Some(failure) }

  /**
   * Holds back a stream that does not exist any more, while others are read.
   *
   * @param isDrained
   *   whether the query had read every record that the stream had at its last fetch
   * @throws KinesisConnectorException
   *   KINESIS_DATA_LOSS, or `why` if no other stream is read
   */
  def leave(from: SourceOffset, arn: String, why: KinesisConnectorException, isDrained: Boolean): Unit =
    from.read.find(_.arn == arn).filterNot(_ => held.contains(arn)).foreach { stream =>
      if (!from.read.exists(other => other.arn != arn && !held.contains(other.arn))) throw why
      held.hold(stream, why, isDrained)
    }

  /** Whether a stream cannot be read at the moment. */
  def isHeld(arn: String): Boolean = held.contains(arn)

  /** Records that a stream was recreated, and whether every record of the deleted one was read. */
  def noteRecreated(arn: String, isDrained: Boolean): Unit = held.noteRecreated(arn, isDrained)

  /** Whether every record of a stream was read before it did not exist, and the stream that is there now followed. */
  def wasDrained(arn: String): Boolean = held.wasDrained(arn)

  /** Returns since when a stream that was parked in an offset should be read again, in epoch milliseconds. */
  def wantedSince(before: SourceOffset, parked: StreamOffset): Option[Long] = wanted.since(before, parked)

  /** The streams as they were when [[evolve]] was called last. */
  def last(start: SourceOffset, from: SourceOffset): SourceOffset =
    present.collect { case (at, last) if (at eq start) || at == start => last }.getOrElse(from)

  /**
   * Returns the offset of the query's next batch with the newest streams and phases.
   *
   * @param start
   *   the end of the last batch
   * @param from
   *   the position of the query, at `start` or after it if there was nothing to plan
   * @param isDrained
   *   whether every record of a stream was planned that arrived up to a time
   * @param timed
   *   returns an open stream that is not read any more with a time for each position
   */
  def evolve(
      start: SourceOffset,
      from: SourceOffset,
      isDrained: (String, Long) => Boolean,
      timed: StreamOffset => StreamOffset
  ): SourceOffset = {
    val began = environment.clock.nanoTime
    val isTimeKnown = session.confirmTime().isEmpty
    val now = last(start, from)
    val entries = log.entries.filter(entry => pinned.forall(entry.number <= _))
    if (now.version == 0 && pattern.isEmpty) firstVersion.adopt(now)
    val version = firstVersion.of(now)
    val known = if (present.nonEmpty) now else entries.find(_.number == version).fold(now)(Membership.resume(now, _))
    val moved =
      if (entries.lastOption.forall(_.number <= version)) known
      else Membership.takeIn(known.copy(version = version), entries)
    open(moved, now)
    val held = Membership.hold(moved, now, session.serviceClock.atLeast, heldBack(now))
    // A stream that is parked with the time before a suspension would be dropped too early.
    val drained =
      if (isTimeKnown)
        Membership.park(
          held,
          session.serviceClock.atLeast,
          options(MetadataOptions.drainGrace).toMillis,
          options(MetadataOptions.drainTimeout).toMillis,
          isDrained
        )
      else held
    val settled = Membership.timed(
      now,
      drained,
      stream => if (session.isOpen(stream.arn)) timed(stream) else stream.timedAs(joinOf(stream.arn))
    )
    if (settled ne now) {
      PhaseEvents.of(now, settled).foreach(session.events.emit)
      changes = changes.and(now, settled, environment.clock.nanoTime - began)
    }
    present = Some(start -> settled)
    settled
  }

  /** Returns the position from which a stream was read, if the log still has it. */
  private def joinOf(arn: String): Option[StreamOffset] =
    log.entries.reverseIterator.flatMap(_.joins.get(arn)).nextOption()

  /** Returns how a stream is reached that the metadata names, or named. */
  override def known(arn: String): Option[PhysicalStream] = updates.known(arn)

  /** Returns the logical stream of a physical one at the end of a batch, by the last version that names it. */
  def idOf(arn: String, end: SourceOffset): Option[String] =
    if (pattern.nonEmpty) None
    else log.entries.reverseIterator.filter(_.number <= end.version).flatMap(_.idOf(arn)).nextOption()

  /** Records the end of a planned batch, from which the next one continues. */
  def note(end: SourceOffset): Unit = present = Some(end -> end)

  /** Replaces the streams that [[evolve]] returned. */
  def replace(start: SourceOffset, now: SourceOffset): Unit = present = Some(start -> now)

  /** The streams that wait until other streams are read. */
  def waiting(offset: SourceOffset): Set[String] =
    Membership.waiting(offset, log.entries.filter(_.number <= offset.version))

  /** Returns the start of a batch with the streams that joined in it. */
  override def withJoined(start: SourceOffset, end: SourceOffset): SourceOffset = {
    val between = log.entries.filter(entry => entry.number > start.version && entry.number <= end.version)
    Membership.withJoined(
      start,
      end,
      Membership.joinIn(between, start, _),
      arn =>
        ReadErrors.offsetInvalid(
          reason = s"the metadata log does not have the position from which $arn was read",
          offset = s"versions ${start.version} to ${end.version}"
        )
    )
  }

  /** Records that no batch before this offset runs again. */
  def committed(offset: SourceOffset): Unit = log.purge(offset.version)

  def metrics(offset: Option[SourceOffset]): Map[String, String] =
    MemberMetrics.of(
      status,
      offset.map(taken => present.fold(taken)(_._2)),
      updates.pending + held.all.size,
      changes,
      session.serviceClock.atLeast,
      options(MetadataOptions.drainGrace).toMillis
    )

  def status: MetadataStatus = watcher.status

  override def close(): Unit = watcher.close()
}

private[spark] object StreamMembers {

  /** The logical id of the streams that match a pattern. */
  val Listed = "streamPattern"
}
