package org.sparkkinesis.spark.read.query

import org.sparkkinesis.config.ReadOptions
import org.sparkkinesis.error.{KinesisConnectorException, ServiceErrors}
import org.sparkkinesis.event.QueryStarted
import org.sparkkinesis.plan.offset.{LostLineage, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.connection.Environment
import org.sparkkinesis.spark.coordinator.PrefetchView
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.spark.session.check.{RecreatedStreams, RetentionCheck, ReturningStreams}
import org.sparkkinesis.spark.session.checkpoint.{CheckpointFiles, InitialOffsetStore}
import org.sparkkinesis.spark.session.{CheckpointCheck, StreamSession}

/**
 * The positions from which one query reads: an offset of the checkpoint, with how far the query has read beyond it, and
 * compared with the streams as they are now. For the query's thread; its methods may block.
 */
final private[read] class SourcePositions(
    session: StreamSession,
    files: CheckpointFiles,
    streams: SourceStreams,
    environment: Environment
) {
  private val checkpoint = new CheckpointCheck(session, environment)
  val retention = new RetentionCheck(session, files)
  val readUpTo = new ReadPositions(session, files, environment)
  private val returning = new ReturningStreams(
    session,
    checkpoint,
    retention,
    (before, parked) => streams.members.flatMap(_.wantedSince(before, parked))
  )
  private val remade = new RecreatedStreams(session, checkpoint, retention, environment)

  private val proofs = new StreamProofs(arn => checkRecreated(Set(arn)), environment.clock)
  private var isStarted = false

  /** Whether this run chose the initial offset instead of finding it in the checkpoint. */
  private var choseBeginning = false

  /** The initial offset, if this run was asked for it: no batch of the query is committed then. */
  private var askedInitial = Option.empty[SourceOffset]

  /** The initial offset of the query, also when it restarts from its checkpoint. */
  lazy val initial: SourceOffset = {
    val offset = mend(new InitialOffsetStore(files).getOrElseUpdate {
      choseBeginning = true
      streams.initialOffset
    })
    askedInitial = Some(offset)
    offset
  }

  /** Returns the offset with recreated streams replaced, after opening streams of earlier runs. */
  def mend(offset: SourceOffset): SourceOffset = {
    streams.members.foreach(_.open(offset))
    mendOpen(offset)
  }

  private def mendOpen(offset: SourceOffset): SourceOffset =
    checkpoint.mend(offset, arn => streams.members.exists(_.wasDrained(arn)))

  /** Emits the events of the query's start, once. */
  def noteStart(from: SourceOffset): Unit = if (!isStarted) {
    isStarted = true
    val mode = session.options(ReadOptions.consumerMode).word
    from.read.foreach { stream =>
      val shards = stream.shards.toSeq.map { case (shard, at) => shard -> at.resumeAt }
      session.events.emit(QueryStarted(stream.arn, mode, !choseBeginning, shards))
    }
  }

  /**
   * Returns the position of a mended offset as it is read, without the shards that have expired.
   *
   * Each shard is checked for expired records when it is fetched for the first time, so a loss that need not end the
   * query is not reported before that.
   */
  def linked(mended: SourceOffset): SourceOffset = {
    val known = mendOpen(readPosition(mended))
    streams.members.foreach(_.open(known))
    streams.deregisterLeft()
    val from = checkpoint.link(known, isChosen = choseBeginning)
    // An initial offset that this run chose cannot have expired, unless it means the time of an earlier first start.
    val mayHaveExpired = !choseBeginning || streams.beginsAtStart
    if (mayHaveExpired && session.settings.failOnDataLoss) retention.warnOfExpired(from, checkpoint.graphs)
    noteStart(from)
    from
  }

  /** Returns how far the streams were read that are read now. */
  def readPosition(mended: SourceOffset): SourceOffset = streams.listed(mended, readUpTo.of(mended))

  /**
   * Returns the start of a batch in real-time mode with recreated streams replaced, and its position as the streams are
   * now: expired shards are replaced as well, if the query accepts lost records.
   */
  def checked(start: SourceOffset): (SourceOffset, SourceOffset) = {
    val mended = mend(start)
    val from = linked(mended)
    // A committed batch wanted the oldest record. A query without one begins anew, until its shards were looked at, and
    // so does a stream that joins.
    val known = from.copy(streams = from.streams.filter { case (arn, _) => mended.streams.contains(arn) })
    if (!known.isTimed && !askedInitial.contains(start))
      readUpTo.note(mended, from.copy(streams = from.streams ++ known.timed(retention.oldestMillis(_)).streams))
    (mended, from)
  }

  /**
   * Returns `from` with the remaining descendants of shards that were given up while the query was running; `None` if
   * their stream was recreated, so that the offset has to be mended again.
   *
   * @param mended
   *   the mended offset of the checkpoint, of which `from` is the position as the streams are now
   */
  def relinked(
      mended: => SourceOffset,
      from: SourceOffset,
      lost: Seq[(StreamOffset, LostLineage)]
  ): Option[SourceOffset] = remade.relinked(readPosition(mended), from, lost)

  /** Stores how far the query has read beyond an offset. May be called on any thread; reports a failure only. */
  def noteRead(offset: SourceOffset, from: SourceOffset): Unit = readUpTo.noteAtStop(offset)(from)

  /** Checks whether streams of which shards are missing were recreated. */
  def checkRecreated(arns: Set[String], isUrgent: Boolean = false): RecreatedStreams.Found =
    remade.check(arns, isUrgent)

  /** Returns those of these streams that consumers did not find, and that were recreated since. */
  def returned(missing: Set[String]): Set[String] = missing.filter { arn =>
    try checkRecreated(Set(arn), isUrgent = true).recreated(arn)
    // The permissions for a stream of another account end with the stream.
    catch { case denied: KinesisConnectorException if ServiceErrors.isAccessDenied(denied) => false }
  }

  /** Returns those of these streams that were recreated. Waits until every stream is described or does not exist. */
  def recreated(arns: Set[String]): Set[String] = remade.recreated(arns)

  /** The number of streams that were found to be recreated in this run. Positions that were mended before are old. */
  def recreations: Int = remade.count

  /** Checks the streams of which the coordinator does not know whether they were recreated. */
  def checkDoubtful(read: PrefetchView): Unit = {
    val doubtful = read.takeDoubtful()
    if (doubtful.nonEmpty) read.doubt(checkRecreated(doubtful).unknown)
  }

  /** Checks streams with first records that no batch has taken. */
  def checkUnproven(read: PrefetchView): Unit = proofs.check(read.unproven, read.prove(_, _, _))

  /**
   * Checks a stream that has no more records: a recreated stream without records has none either.
   *
   * @param isLast
   *   whether the query ends, so that the stream cannot be checked later
   */
  def checkDrained(read: PrefetchView, arn: String, isLast: Boolean): Unit =
    if (read.requireProof(arn)) proofs.check(Map(arn -> None), read.prove(_, _, _), isLast)

  /** Returns `after` with the positions of the streams checked that returned since `before`. */
  def withReturned(before: SourceOffset, after: SourceOffset): SourceOffset = returning.checked(before, after)

  /**
   * Reports records of these shards that expired before they were fetched.
   *
   * @param isLast
   *   whether the query ends, so that nothing can be reported later
   */
  def reportOvertaken(late: Seq[Overtaken], isLast: Boolean): Unit = retention.warnOfOvertaken(late, isLast)
}
