package org.sparkkinesis.plan

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.plan.offset.{IdleTime, ShardPosition}

/** One shard: its position, its chunks, and the number of chunks that the batch takes. */
final private[plan] class Candidate(
    val shard: ShardId,
    var position: ShardPosition,
    var since: Option[Long],
    available: Option[ShardAvailability]
) {
  private val chunks = available.fold[IndexedSeq[ChunkSummary]](Vector.empty)(_.chunks)

  /** The position when the batch began. */
  private val start = position
  private def hadRecords = start match {
    case _: ShardPosition.After | _: ShardPosition.Within => true
    case _ => false
  }

  /** Whether the first chunk begins with the first record after the start. */
  private def followsStart = start match {
    case ShardPosition.After(number, _) => available.exists(_.precededBy.contains(number))
    case _ => false
  }

  /** The number of chunks that a batch may take. */
  private var permitted = chunks.size
  var count = 0
  var rows = 0L
  var bytes = 0L

  def isDone: Boolean = position == ShardPosition.ShardEnd

  /** Finished, or closed and without records to read. */
  def isOver: Boolean = isDone || (chunks.isEmpty && available.exists(_.ended))
  def hasNews: Boolean = permitted > 0 && !isDone

  /** The next chunk that the batch may take. */
  def next: Option[ChunkSummary] = if (count < permitted) Some(chunks(count)) else None

  /**
   * The time, in epoch milliseconds, up to which the chunks contain every record of the shard; 0 if it is unknown. The
   * children of a closed shard continue where it ends.
   */
  def fetchedUpToMillis: Long =
    if (available.exists(_.ended)) chunks.lastOption.fold(Long.MaxValue / 2)(_.newestArrivalMillis)
    else math.max(available.fold(0L)(_.readUpToMillis), readUntil.getOrElse(0L))

  /** Excludes the chunks from the first one with a record that arrived after this time. */
  def withholdAfter(millis: Long, isLast: Boolean): Unit = {
    val inTime = chunks.iterator.takeWhile(_.newestArrivalMillis <= millis).size
    permitted = if (isLast) math.max(inTime, math.min(1, chunks.size)) else inTime
  }
  def withheldRows: Long = chunks.iterator.drop(permitted).map(_.rows.toLong).sum

  def takeNext(): Unit = if (count < permitted) {
    rows += chunks(count).rows
    bytes += chunks(count).bytes
    count += 1
  }

  /**
   * The arrival time of the first record that the batch takes, if the time of the start does not tell it: the start has
   * no record, or one that arrived much earlier.
   */
  def begun: Option[Long] =
    firstArrival.filter(first => !hadRecords || IdleTime.of(start).exists(first - _ > IdleTime.Period))

  /**
   * The arrival time of the first record that the batch takes, if it is known. A chunk of a new owner may also contain
   * records before the position, and these may have the same time as the first record after it.
   */
  def firstArrival: Option[Long] = Option.when(count > 0)(chunks.head.firstArrivalMillis).filter(first =>
    !hadRecords || IdleTime.of(start).exists(_ < first) || followsStart
  )

  /** The number of rows that the batch takes if they are large, so that a few of them exceed the shard's read quota. */
  def largeRows: Option[Long] = Option.when(count > 0 && bytes > rows * Candidate.LargeRowBytes)(rows)

  /**
   * The last record that the batch takes, or `None` if it takes none, if the shard is finished. It may have been
   * finished before, at a position that is newer than the one in Spark's log.
   */
  def finished: Option[Option[SequenceNumber]] = Option.when(isDone)(Option.when(count > 0)(chunks(count - 1).last))

  /** A time before which every record of the shard is before the position, if it is known. */
  def readUntil: Option[Long] = IdleTime.of(position).orElse(since)

  /**
   * Moves the position to the end of the shard, of which every record before this time was read. Its children may have
   * been created much later than its last record arrived.
   */
  def finish(until: Option[Long]): Unit = {
    position = ShardPosition.ShardEnd
    since = (until ++ available.flatMap(_.childrenSinceMillis)).maxOption
  }

  def takeAll(): Unit = while (count < permitted) takeNext()

  /** Moves the position to the end of the taken chunks. */
  def take(): Unit = if (count > 0) {
    val last = chunks(count - 1)
    if (count == chunks.size && available.exists(_.ended)) finish(Some(last.lastArrivalMillis))
    else position = ShardPosition.After(last.last, last.lastArrivalMillis)
  }

  /**
   * The position at the end of the batch. If all chunks were taken, the position's time is updated occasionally;
   * otherwise a restart could assume that the records of an idle shard have expired.
   */
  def settled: ShardPosition = chunks.lift(count) match {
    case Some(_) => leftSince.fold(position)(IdleTime.upToNext(position, _))
    case None => idleUpTo.fold(position)(IdleTime.refresh(position, _))
  }

  /** The time for a position that has none at the end of the batch. */
  def settledSince: Option[Long] = settled match {
    case ShardPosition.ShardEnd => since
    case position if IdleTime.of(position).isEmpty =>
      val fetched = if (chunks.size > count) leftSince else idleUpTo.map(_ - IdleTime.Margin)
      since.filter(old => fetched.forall(_ - old <= IdleTime.Period)).orElse(fetched)
    case _ => None
  }

  /**
   * The arrival of the first record that the batch does not take, unless earlier ones may be missing. The records of
   * the shard's children arrived later.
   */
  private def leftSince: Option[Long] =
    chunks.lift(count).filter(_ => available.exists(_.readUpToMillis > 0)).map(_.firstArrivalMillis)

  /**
   * The time up to which no record arrived after the chunks, neither in the shard nor in its children. The time of a
   * finished shard is the one of its children.
   */
  private def idleUpTo: Option[Long] =
    available.map(known => math.min(known.readUpToMillis, known.openUpToMillis)).filter(_ > 0)
}

private[plan] object Candidate {

  /** A reader that does not know the size of the records asks for more than it needs if they are larger than this. */
  val LargeRowBytes: Long = 16L * 1024
}
