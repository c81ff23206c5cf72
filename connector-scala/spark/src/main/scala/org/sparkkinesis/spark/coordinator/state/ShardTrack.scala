package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable

import org.sparkkinesis.chunk.{ChunkSummary, SummaryBounds}
import org.sparkkinesis.model.{SequenceNumber, StreamShard}
import org.sparkkinesis.plan.offset.ShardPosition
import org.sparkkinesis.service.ServiceException
import org.sparkkinesis.spark.protocol.ShardReport

/**
 * The coordinator's state about one shard, from reports.
 *
 * @param unreadSince
 *   a time, in epoch milliseconds, before which no record arrived that is still to be read when the shard is assigned
 *   for the first time; empty if it is unknown
 */
final private[coordinator] class ShardTrack(
    val shard: StreamShard,
    bounds: SummaryBounds,
    val unreadSince: Option[Long] = None
) {
  var owner: Option[String] = None

  /**
   * The epoch of the current assignment. Each assignment gets a higher epoch; reports with an older epoch are
   * ignored.
   */
  var epoch = 0L

  /** Reported chunks after the position that planning has reached. */
  val chunks: mutable.ArrayDeque[ChunkSummary] = mutable.ArrayDeque.empty

  /** The end of the last batch. Chunks are not joined across it, because planned rows would count again. */
  private var plannedUpTo: Option[SequenceNumber] = None

  /**
   * The last record that the owner was told to drop before it was planned. A full report does not name dropped records,
   * so their chunks are kept, and chunks are not joined across this record.
   */
  private var droppedAhead: Option[SequenceNumber] = None

  /**
   * The record that the first chunk follows, if it is known: the one at which the owner began, or the last one that was
   * dropped.
   */
  var precededBy: Option[SequenceNumber] = None

  /** The number of rows in `chunks`. The query reads it at every trigger. */
  var rows = 0L
  var lastReported: Option[SequenceNumber] = None
  var readUpToMillis = 0L
  var millisBehindLatest: Option[Long] = None
  var ended = false

  /** Whether the service does not have the shard any more. No owner can read it, so it stays ended. */
  private var isMissing = false
  var failure: Option[ServiceException] = None

  /** The last time up to which the shard was read that had a later record in it; 0 if there is none. */
  var followedMillis = 0L

  /**
   * The last time at which the shard was open as far as its consumer knows, in epoch milliseconds; 0 if it knows none.
   * That is the arrival of a record, or an answer at the tip without records: such an answer of a closed shard reports
   * its end.
   */
  var openUpToMillis = 0L

  /** When an answer of the service was reported last, in nanoseconds of this process's clock. */
  private var answeredNanos = Option.empty[Long]

  /** Rate at which the shard is fetched, by any owner. */
  val rate = new ReadRate

  /**
   * Whether the owner began at a position without a sequence number. If the stream was recreated, the owner reads the
   * new shard of this name from there, without an error.
   */
  private var mayBeOther = false

  /**
   * When the first records or the end of such a shard were reported, in nanoseconds of this process's clock. The shard
   * is of the known stream if a later description of the stream is of the known one.
   */
  private var firstNewsNanos = Option.empty[Long]

  /** Whether the query has received records or times of this shard, possibly from an earlier owner. */
  private var wasRead = false

  /** Value of [[oldestUnplanned]] when the last owner was lost. Its records have to be fetched again. */
  private var lostFrom: Option[Long] = None

  /** The last record that an earlier owner had reported and that was not planned when that owner was lost. */
  private var lostUpTo: Option[SequenceNumber] = None

  def isGone: Boolean = isMissing

  /** Whether no owner has reported a time up to which it read the shard. */
  def isUnread: Boolean = !wasRead

  /** Whether the shard has an owner, which has not received an answer of the service yet. */
  def isSilent: Boolean = owner.nonEmpty && readUpToMillis == 0 && !ended && failure.isEmpty

  /** Records that the service does not have the shard any more. */
  def noteGone(): Unit = {
    failure = None
    isMissing = true
    ended = true
  }

  /** @param from the position at which the owner begins */
  def assign(newOwner: String, newEpoch: Long, from: ShardPosition): Unit = {
    owner = Some(newOwner)
    epoch = newEpoch
    forget()
    precededBy = from match {
      case ShardPosition.After(number, _) => Some(number)
      case _ => None
    }
    mayBeOther = !from.hasNumber
  }

  /** Records when records or the end of the shard were reported, or when their absence must be proven. */
  def noteNews(nanos: Long): Unit = if (mayBeOther && firstNewsNanos.isEmpty) firstNewsNanos = Some(nanos)

  /**
   * Whether the shard may be of a recreated stream, as far as the reports and the descriptions show. A recreated stream
   * may have no records.
   */
  def mayBeRecreated: Boolean = mayBeOther

  /** Whether a description of the stream must show that what was reported is not of a recreated stream. */
  def isUnproven: Boolean = firstNewsNanos.nonEmpty

  /** When such a report came for the first time, in nanoseconds of this process's clock. */
  def unprovenSince: Option[Long] = firstNewsNanos

  /** Records that the stream is the known one, or does not exist, by a description that began at this time. */
  def prove(nanos: Long, exists: Boolean = true): Unit = if (firstNewsNanos.exists(_ - nanos <= 0)) {
    firstNewsNanos = None
    if (exists) mayBeOther = false
  }

  /**
   * Removes the owner. The next owner fetches its records again, possibly in other chunks. A shard that was read to its
   * end needs no other owner if every record is planned. An owner would not find the shard if it has expired since.
   *
   * @param endIsPlanned
   *   whether the last planned batch reads the shard to its end
   */
  def lose(endIsPlanned: Boolean = false): Unit = {
    owner = None
    if (!ended || isMissing || isUnproven || (chunks.nonEmpty && !endIsPlanned)) forget()
    else {
      chunks.clear()
      rows = 0
    }
  }

  /**
   * A time before which every record was fetched, or was planned before an owner was lost, or was read by an earlier
   * run; `None` if that is unknown. A new owner starts at the position that planning has reached.
   */
  def readBefore(planned: Option[ShardPosition]): Option[Long] =
    if (readUpToMillis > 0) Some(readUpToMillis)
    else
      (lostFrom ++ planned.collect { case ShardPosition.After(_, until) if wasRead => until }).maxOption
        .orElse(unreadSince)

  /** The arrival of the oldest record that was not planned, else the time up to which there was none. */
  private def oldestUnplanned: Option[Long] =
    chunks.find(chunk => plannedUpTo.forall(chunk.last > _)).map(_.firstArrivalMillis)
      .orElse(Option.when(readUpToMillis > 0)(readUpToMillis))

  /**
   * Whether records that a lost owner had reported were neither reported again nor planned. If the stream was
   * recreated, they never are.
   */
  def lacksLostRecords: Boolean = lostUpTo.exists(isNew)

  private def forget(): Unit = {
    lostFrom = oldestUnplanned.orElse(lostFrom)
    lostUpTo = (lostUpTo ++ chunks.lastOption.map(_.last)).maxOption
    chunks.clear()
    rows = 0
    lastReported = None
    precededBy = None
    droppedAhead = None
    readUpToMillis = 0
    openUpToMillis = 0
    firstNewsNanos = None
    ended = isMissing
    failure = None
  }

  /** Whether a record comes after all that were reported or planned. */
  def isNew(record: SequenceNumber): Boolean = lastReported.forall(record > _) && plannedUpTo.forall(record > _)

  def accept(report: ShardReport, replaces: Boolean): Unit = {
    if (replaces) {
      val kept = chunks.toVector.filter(chunk => droppedAhead.exists(chunk.last <= _))
      chunks.clear()
      chunks ++= kept
      rows = kept.iterator.map(_.rows.toLong).sum
    }
    val known = if (replaces) droppedAhead else lastReported
    val added = report.chunks.filter(chunk => known.forall(chunk.last > _))
    added.foreach(add)
    // A full report repeats records that were counted before.
    if (!replaces) rate.add(report.reads, added.iterator.map(_.rows.toLong).sum, added.iterator.map(_.bytes).sum)
    openUpToMillis =
      (report.chunks.iterator.map(_.newestArrivalMillis) ++ Seq(report.openUpToMillis, openUpToMillis)).max
    lastReported =
      report.chunks.lastOption.map(_.last).filter(last => lastReported.forall(last > _)).orElse(lastReported)
    readUpToMillis = math.max(readUpToMillis, report.readUpToMillis)
    if (report.readUpToMillis > 0) millisBehindLatest = Some(report.millisBehindLatest)
    if (report.millisBehindLatest > 0) followedMillis = math.max(followedMillis, report.readUpToMillis)
    wasRead ||= report.readUpToMillis > 0
    ended = ended || report.end.nonEmpty
    failure = failure.orElse(report.failure)
  }

  /** Records that an answer of the service was reported. */
  def noteAnswer(nanos: Long): Unit = answeredNanos = Some(nanos)

  /**
   * Returns how far fetching is behind, in milliseconds: the service's last value and, if no answer has come for longer
   * than usual, the age of the last one. `None` if there was no answer, or the shard has ended.
   *
   * @param usualMillis
   *   maximum time between two answers of a shard that is read without trouble
   */
  def fetchedBehind(nanos: Long, usualMillis: Long): Option[Long] = {
    val age = answeredNanos.map(last => (nanos - last) / 1000000).filter(_ > usualMillis).getOrElse(0L)
    millisBehindLatest.filterNot(_ => ended).map(_ + age)
  }

  /**
   * Returns how many milliseconds the query is behind in this shard; `None` if that is unknown or nothing is left to
   * read.
   *
   * @param planned
   *   the end of the last batch in this shard
   * @param fetchedBehind
   *   how far fetching is behind
   */
  def lagMillis(planned: Option[ShardPosition], nowMillis: Long, fetchedBehind: Option[Long]): Option[Long] = {
    val oldest = planned match {
      case Some(ShardPosition.ShardEnd) => None
      case Some(ShardPosition.After(number, _)) => chunks.find(_.last > number)
      case _ => chunks.headOption
    }
    oldest.map(chunk => math.max(0, nowMillis - chunk.firstArrivalMillis))
      .orElse(fetchedBehind)
  }

  /**
   * Marks the reported records as dropped by the owner, although they are not planned yet. Tasks read them from the
   * service. Returns the last of them, if there is one.
   */
  def dropAhead(): Option[SequenceNumber] = {
    droppedAhead = lastReported
    droppedAhead
  }

  /** Drops planned chunks. Returns the last dropped sequence number, if there is one. */
  def dropPlanned(planned: ShardPosition): Option[SequenceNumber] = planned match {
    case ShardPosition.After(number, _) => Some(number).filter(dropUpTo)
    case ShardPosition.ShardEnd => chunks.lastOption.map(_.last).filter(dropUpTo)
    case _: ShardPosition.Start | _: ShardPosition.Within => None
  }

  /** Called when a batch was planned that ends at this position of the shard. */
  def planned(end: ShardPosition): Unit = end match {
    case ShardPosition.After(number, _) => plannedUpTo = (plannedUpTo.toSeq :+ number).maxOption
    case _ => ()
  }

  private def add(chunk: ChunkSummary): Unit = {
    val mayJoin = chunks.lastOption.filter(last => (plannedUpTo ++ droppedAhead).forall(last.last > _))
    val joined = mayJoin.flatMap(bounds.join(_, chunk))
    if (joined.nonEmpty) chunks.removeLast()
    chunks += joined.getOrElse(chunk)
    rows += chunk.rows
  }

  /** Drops chunks up to this sequence number. Returns true if there were some. */
  def dropUpTo(number: SequenceNumber): Boolean = {
    val before = chunks.size
    while (chunks.nonEmpty && chunks.head.last <= number) {
      val dropped = chunks.removeHead()
      rows -= dropped.rows
      precededBy = Some(dropped.last)
    }
    chunks.size < before
  }
}
