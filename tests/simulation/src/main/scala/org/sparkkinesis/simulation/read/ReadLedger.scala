package org.sparkkinesis.simulation.read

import scala.collection.mutable

import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.spark.{BatchSink, ReadRow}

/** Compares the put records with the delivered rows, after each batch and at the end. */
final class ReadLedger(now: () => Long, initialRetentionMillis: Long) extends BatchSink {
  private var retentionMillis = initialRetentionMillis
  private val put = mutable.LongMap.empty[PutRecord]
  private val delivered = mutable.LongMap.empty[Long]
  private val read = mutable.LongMap.empty[Vector[ReadRow]]
  private val live = mutable.Set.empty[Long]
  private val lastOfKey = mutable.HashMap.empty[(String, String), (Long, Long, String)]
  private var slowest = 0L
  private var reported = Vector.empty[LossReport]

  /** The times at which streams were deleted. */
  private val deletions = mutable.HashMap.empty[String, Long]

  /** The times at which the deletions of streams were complete. */
  private val removals = mutable.HashMap.empty[String, Long]

  /** The arrival time of the first record that must be delivered. */
  private var beginsAtMillis = Long.MaxValue
  private var firstStartMillis = Long.MaxValue

  /** Streams that begin at their oldest record while others begin at a time, and since when they are read. */
  private var fromOldest = Map.empty[String, Long]
  private var notedMillis = Long.MaxValue
  private var startedMillis = Long.MaxValue
  private var firstRunMillis = Long.MaxValue

  /** The times at which streams joined a logical stream after the first ones; empty for the first ones. */
  private val joined = mutable.HashMap.empty[String, Option[Long]]
  private var isLogical = false

  /** The streams that an entry of the metadata log has joined after the first ones, and when it did last. */
  private var joining = Map.empty[String, Long]

  /** The times in which streams were parked after they had been drained: the last one may still last. */
  private val drained = mutable.HashMap.empty[String, Vector[(Long, Long)]].withDefaultValue(Vector.empty)

  /** The times in which streams that are to be read did not exist, as far as the query knows. */
  private val absences = mutable.HashMap.empty[String, Vector[(Long, Long)]].withDefaultValue(Vector.empty)

  /** The streams that were parked and not read to their ends, and until when. */
  private val leftUnread = mutable.HashMap.empty[String, Long]

  def records: Int = put.size
  def deliveredCount: Int = delivered.size

  /** The number of real-time batches. */
  def liveBatches: Int = live.size
  def losses: Vector[LossReport] = reported

  def add(record: PutRecord): Unit = put(record.id) = record
  def deleted(stream: String): Unit = deletions(stream) = now()

  /** Records that the deletion of a stream is complete. */
  def removed(stream: String): Unit = if (deletions.contains(stream)) removals.getOrElseUpdate(stream, now())

  /** Records a change of the retention period. */
  def retain(hours: Int): Unit = retentionMillis = hours * 3600000L

  /** The longest time from a record's arrival, or the query's first start, to its delivery. */
  def slowestMillis: Long = slowest

  /**
   * Records the first start of the query.
   *
   * @param positionMillis
   *   records that arrived before this time need not be delivered
   * @param unread
   *   the streams that begin at their oldest record, because the initial position was too old for them: what expires
   *   before they are read is not lost. They are read from the next call without them on.
   */
  def begin(positionMillis: Long, unread: Set[String] = Set.empty): Unit = {
    if (firstStartMillis == Long.MaxValue) {
      beginsAtMillis = positionMillis
      firstStartMillis = now()
      fromOldest = unread.map(_ -> Long.MaxValue).toMap
    }
    if (unread.isEmpty) fromOldest = fromOldest.transform((_, since) => math.min(since, now()))
  }

  /** Records each start of the query. */
  def started(): Unit = {
    startedMillis = now()
    firstRunMillis = math.min(firstRunMillis, startedMillis)
  }

  /**
   * Records that a stream of a logical stream is read from now on. Only the first streams begin at the initial
   * position; the others begin at their oldest record.
   */
  def joins(arn: String, isFirst: Boolean): Unit =
    if (!joined.contains(arn)) joined(arn) = Option.unless(isFirst)(now())

  /** Records that streams are fetched from their oldest records on, and read from the next batch on. */
  def beginJoining(arns: Iterable[String]): Unit = joining ++= arns.map(_ -> now())

  /** Returns when a stream was listed for the first time, if it joined after the query's first start. */
  def listedSince(arn: String): Option[Long] = joining.get(arn)

  /**
   * Records that a stream was parked after every record was read that arrived before this time. Of later ones, only
   * those are read that the stream still has when it returns.
   */
  def drained(arn: String, fromMillis: Long): Unit =
    drained(arn) = drained(arn).filterNot(_._2 == Long.MaxValue) :+ fromMillis -> Long.MaxValue

  /** Records that a stream is to be read, which may have been parked before. */
  def returned(arn: String): Unit = drained(arn).lastOption.foreach { case (from, until) =>
    if (until == Long.MaxValue) drained(arn) = drained(arn).init :+ from -> now()
  }

  /**
   * Records that a stream that is to be read did not exist at a time, and that every record of it was read. Until the
   * query finds a stream of that name again, it does not know the streams that are created and deleted meanwhile.
   */
  def gone(arn: String, fromMillis: Long): Unit =
    if (!absences(arn).exists(_._2 == Long.MaxValue)) absences(arn) :+= fromMillis -> Long.MaxValue

  /** Records that the query knows the stream that was created at this time. */
  def found(arn: String, creationMillis: Long): Unit = absences(arn).lastOption.foreach { case (from, until) =>
    if (until == Long.MaxValue) absences(arn) = absences(arn).init :+ from -> creationMillis
  }

  /** Records whether a stream is parked and was not read to its end. */
  def parked(arn: String, isUnread: Boolean): Unit =
    if (isUnread) leftUnread(arn) = Long.MaxValue
    else if (leftUnread.get(arn).contains(Long.MaxValue)) returnedUnread(arn)

  /** Records that a stream is to be read that was parked and not read to its end. */
  def returnedUnread(arn: String): Unit = leftUnread(arn) = now()

  /**
   * Whether a report is about a stream that is parked and was not read to its end, or that has returned and of which no
   * record had been fetched since. The query cannot know whether such a stream got records.
   */
  def isOfLeftUnread(report: LossReport): Boolean = leftUnread.exists { case (arn, until) =>
    LossReport.isNamed(arn, report.stream) &&
    (until == Long.MaxValue ||
      (now() - until <= ReadLedger.FirstFetchMillis && report.unread.exists(_.fromMillis <= until)))
  }

  /** Returns when the stream that was created at this time was deleted, or the maximum value if it was not. */
  def deletedMillis(arn: String, creationMillis: Long): Long = deletions.iterator.collect {
    case (stream, at) if stream.takeWhile(_ != '#') == arn && at >= creationMillis => at
  }.minOption.getOrElse(Long.MaxValue)

  /** Returns whether a record was in a stream that was created and deleted while the query knew none of its name. */
  private def isOfUnknown(record: PutRecord): Boolean = absences(record.arn).exists { case (from, until) =>
    record.arrivalMillis >= from && deletions.get(record.stream).exists(_ <= until)
  }

  /**
   * Returns whether a record arrived in a stream of a logical stream shortly before the stream was gone. The query
   * takes such a stream as read to its end if the last answer said so and is not older than that.
   */
  private def isOfLastSeconds(record: PutRecord): Boolean =
    isLogical && removals.get(record.stream).exists(_ - record.arrivalMillis <= ReadLedger.LastAnswerMillis)

  /** Records that the query has dropped its position in a stream. If the stream returns, it is a new one. */
  def dropped(arn: String): Unit = {
    joined -= arn
    put.valuesIterator.filter(_.arn == arn).foreach(record => delivered -= record.id)
    lastOfKey.filterInPlace { case ((stream, _), _) => stream.takeWhile(_ != '#') != arn }
  }

  /** Returns whether a record arrived in a parked stream that had been drained, and was gone before it returned. */
  private def isGoneInBetween(record: PutRecord): Boolean = drained(record.arn).exists { case (from, until) =>
    record.arrivalMillis >= from && record.arrivalMillis <= until &&
    goneMillis(record) - ReadLedger.FirstFetchMillis <= until
  }

  /** Records that the query reads a logical stream, so that only streams that join are read. */
  def expectJoins(): Unit = isLogical = true

  /** Called when the initial offset, which identifies the streams, is stored for the first time. */
  def noted(): Unit = notedMillis = math.min(notedMillis, now())

  def report(loss: LossReport): Unit = reported :+= loss

  override def onBatchLogged(): Unit = ()

  override def onBatchRead(batch: Long, rows: Vector[ReadRow]): Unit = {
    read.get(batch).foreach(sameRows(batch, _, rows))
    read(batch) = rows
  }

  override def onBatchHanded(batch: Long, rows: Vector[ReadRow]): Unit = {
    read(batch) = rows
    live += batch
  }

  override def onBatchDropped(batch: Long): Unit = {
    read -= batch
    live -= batch
  }

  override def sameRows(batch: Long, before: Vector[ReadRow], again: Vector[ReadRow]): Unit = {
    val added = again.toSet -- before
    added.find(!isReportedLost(_)).foreach { row =>
      throw new Violation("rerun", s"batch $batch has other rows when it runs again, for example $row")
    }
    val gone = before.toSet -- again
    gone.flatMap(row => put.get(row.id)).find(!isExcused(_)).foreach { record =>
      throw new Violation("rerun", s"batch $batch lacks $record when it runs again, and no loss was reported")
    }
  }

  override def onBatchCommitted(batch: Long): Unit = {
    val rows = read.getOrElse(batch, Vector.empty)
    rows.foreach(row => deliver(batch, row))
  }

  private def deliver(batch: Long, row: ReadRow): Unit = {
    val record = put.getOrElse(row.id, throw new Violation("unknown", s"$row was never put"))
    // A running query does not know the hash keys of a stream that was created again.
    if (record.dropped && deletions.valuesIterator.forall(_ < startedMillis))
      throw new Violation("filter", s"$record was delivered, though the filter leaves it out")
    delivered.put(row.id, batch).foreach(first =>
      throw new Violation("duplicate", s"$record is in batch $batch and in batch $first")
    )
    slowest = math.max(slowest, now() - math.max(record.arrivalMillis, firstStartMillis))
    if (record.ordered) {
      val key = (record.stream, record.key)
      lastOfKey.get(key).foreach { case (lastBatch, lastId, lastShard) =>
        if (lastId > row.id)
          throw new Violation("order", s"$record came after record $lastId of its key, in batch $batch")
        // A real-time batch reads a child after its parents.
        if (lastBatch == batch && lastShard != row.shard && !live(batch))
          throw new Violation(
            "order",
            s"batch $batch has records of key ${record.key} of $lastShard and of ${row.shard}"
          )
      }
      lastOfKey(key) = (batch, row.id, row.shard)
    }
  }

  /** Returns the stream of a delivered or read row. */
  def streamOf(row: ReadRow): Option[String] = put.get(row.id).map(_.arn)

  /** Returns the rows of a batch as they were read last. */
  def rowsOf(batch: Long): Vector[ReadRow] = read.getOrElse(batch, Vector.empty)

  /** Returns the records that must still be delivered or reported as lost. */
  def missing: Iterator[PutRecord] =
    put.valuesIterator.filter(record => !delivered.contains(record.id) && isExpected(record) && !isExcused(record))

  def isExpected(record: PutRecord): Boolean = !record.dropped && !isGoneInBetween(record) && !isOfUnknown(record) &&
    !isOfLastSeconds(record) && {
      joined.get(record.arn) match {
        case Some(Some(joinedMillis)) => goneMillis(record) >= joinedMillis
        case None if isLogical => goneMillis(record) >= now()
        case _ => isInFirst(record) && goneMillis(record) >= fromOldest.getOrElse(record.arn, firstStartMillis) &&
          // A stream that was deleted before the query knew it cannot be missed.
          deletions.get(record.stream).forall(_ >= notedMillis)
      }
    }

  /** Whether the initial position is before the record. */
  private def isInFirst(record: PutRecord): Boolean =
    joined.get(record.arn).exists(_.nonEmpty) || record.arrivalMillis >= beginsAtMillis

  /** Returns the time from which the record could not be read any more. */
  def goneMillis(record: PutRecord): Long =
    math.min(record.arrivalMillis + retentionMillis, deletions.getOrElse(record.stream, Long.MaxValue))

  /** Returns whether the record became unreadable and the query reported a loss of its shard after that. */
  private def isExcused(record: PutRecord): Boolean = {
    val gone = goneMillis(record)
    def isFiltered(loss: LossReport) = loss.isOfFilter && !record.ordered && record.arrivalMillis <= loss.millis
    reported.exists(loss =>
      loss.concerns(record) && (isFiltered(loss) || (gone <= now() && loss.untilMillis >= gone))
    )
  }

  /**
   * Returns whether the row may be absent from one read of a batch and present in the next one. The first task read
   * its shard from the service after the record was gone and reported that, and the second one ran in an executor that
   * still had the record in memory. A task does not know what other executors have in memory.
   */
  private def isReportedLost(row: ReadRow): Boolean = put.get(row.id).exists { record =>
    reported.exists(loss =>
      loss.concerns(record) && loss.shard == row.shard && loss.millis >= goneMillis(record)
    )
  }

  /** Returns whether the report is about a stream that was deleted. */
  def hasDeletion(loss: LossReport): Boolean =
    deletions.keysIterator.exists(life => LossReport.isNamed(life.takeWhile(_ != '#'), loss.stream))

  /**
   * Returns whether some record of the reported stream may really be lost now. A shard that could not be read for long
   * is reported although it may have had no record in that time. The first run may fetch and plan records that expire
   * before its first batch is logged: they need not be delivered, but they are lost. The initial position counts from
   * when it is stored.
   */
  def hasLoss(loss: LossReport): Boolean = put.valuesIterator.exists(record =>
    loss.isOfStreamOf(record) && !record.dropped && !delivered.contains(record.id) &&
      (beginsAtMillis == Long.MaxValue || joining.contains(record.arn) || isInFirst(record)) &&
      goneMillis(record) >= firstRunMillis &&
      goneMillis(record) <= now() + ReadLedger.MarginMillis
  )
}

object ReadLedger {

  /** The tolerance for expiry, because arrival times are approximate. */
  val MarginMillis: Long = 10 * 60 * 1000L

  /** The maximum age of the last answer of a deleted stream, with a tolerance for the service's clock. */
  private val LastAnswerMillis: Long = 12 * 1000L

  /** The time in which a stream that returns is fetched for the first time. */
  private val FirstFetchMillis: Long = 60 * 60 * 1000L
}
