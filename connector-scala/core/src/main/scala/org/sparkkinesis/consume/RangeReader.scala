package org.sparkkinesis.consume

import java.time.Instant
import java.util.concurrent.LinkedBlockingQueue

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder}
import org.sparkkinesis.concurrent.{BlockingWait, Waiting}
import org.sparkkinesis.event.{Loss, Losses}
import org.sparkkinesis.model.{ChildShard, KinesisRecord, SequenceNumber, StartingPosition, StreamShard, UserRecord}
import org.sparkkinesis.service.ServiceException

/** The end of a bounded read of one shard. */
sealed trait RangeEnd

object RangeEnd {

  /** The record with this number, which must exist; it is the last one of the range. */
  final case class At(sequenceNumber: SequenceNumber) extends RangeEnd

  /** The record with this sequence number, which must exist, as far as this user record in it. */
  final case class Within(last: UserRecord) extends RangeEnd

  /** The last record of the shard. The read of an open shard does not end. */
  case object ShardEnd extends RangeEnd

  /**
   * The last record that arrived until this time, or the end of the shard. For the records that are in the shard now,
   * use the current time.
   */
  final case class ArrivedBy(epochMillis: Long) extends RangeEnd
}

/**
 * Reads one range of one shard directly from the service, in order, and blocks the calling thread.
 *
 * It does not wait for records that cannot arrive: if the first records of the range or the record of `RangeEnd.At` are
 * missing, `losses` decides whether it fails with `KINESIS_DATA_LOSS` or reads the remaining records. A range reports
 * one loss. A reader that is not read to its end must be closed. Interrupting the thread ends the
 * wait.
 *
 * If the arrival of the first record is known, records may expire while the range is read: those that follow one
 * response could be gone before the next one. So each request begins at the last record of the response before it,
 * which must still be there.
 *
 * @param skipUpTo
 *   the user record after which the range begins, if that is within the record at `after`
 * @param firstArrivalMillis
 *   when the first record of the range arrived, epoch milliseconds, if it is known; that record must exist
 */
final class RangeReader(
    publishers: RecordPublisherFactory,
    shard: StreamShard,
    after: StartingPosition,
    end: RangeEnd,
    chunks: ChunkBuilder,
    losses: Losses = Losses.Strict,
    maxBytesPerFetch: Long = RangeReader.MaxBytesPerFetch,
    waiting: Waiting = BlockingWait,
    skipUpTo: Option[UserRecord] = None,
    firstArrivalMillis: Option[Long] = None
) extends Iterator[Chunk]
    with AutoCloseable {
  import RangeReader._

  private val inbox = new LinkedBlockingQueue[Event]
  private var subscriber = new Queueing
  private var publisher = publishers.subscribe(shard, after, subscriber)

  /** The record with which the next response must begin, because the records after it may have expired. */
  private var mustBegin = Option.empty[KinesisRecord]
  private var ready = Iterator.empty[Chunk]
  private var isDone = false
  private var lastSeen: Option[SequenceNumber] = None
  private var emptyTips = 0
  private var hasBegun = false
  private var hasLost = false

  publisher.request(maxBytesPerFetch)

  /** @throws ServiceException if the service cannot be read */
  override def hasNext: Boolean = {
    while (!ready.hasNext && !isDone)
      waiting.take(inbox) match {
        // Nothing follows the records that were taken last, also if the next response was requested meanwhile.
        case End => finish(shardEnded = true)
        case Batch(from, batch) => if (from eq subscriber) take(batch)
        case Failed(from, error) => if (from eq subscriber) {
            isDone = true
            if (!MissingResource.of(error).contains(MissingResource.Shard)) throw error
            lose(
              s"the range after ${position(after)} is in a shard that no longer exists",
              s"A closed shard is deleted when its last record expires. The service answered: ${error.detail}"
            )
          }
      }
    ready.hasNext
  }

  override def next(): Chunk = if (hasNext) ready.next() else Iterator.empty.next()

  override def close(): Unit = {
    isDone = true
    ready = Iterator.empty
    publisher.cancel()
  }

  private def take(answer: RecordBatch): Unit = {
    val batch = withoutRepetition(answer)
    batch.records.headOption.filterNot(_ => hasBegun).foreach(begin)
    val wanted = end match {
      case RangeEnd.At(number) => upTo(batch, number)
      case RangeEnd.Within(last) => upTo(batch, last.sequenceNumber)
      case RangeEnd.ShardEnd => batch.records
      case RangeEnd.ArrivedBy(millis) => batch.records.filter(_.arrivalMillis <= millis)
    }
    wanted.lastOption.foreach(record => lastSeen = Some(SequenceNumber.trusted(record.sequenceNumber)))
    if (reachedEnd(batch)) finish(shardEnded = false) else proceed(batch)
    if (!isDone || wanted.nonEmpty) ready = cut(chunks.build(wanted, batch.millisBehindLatest).iterator)
  }

  /** Requests the next response. If only the repeated record came, the response after that one continues from there. */
  private def proceed(batch: RecordBatch): Unit = {
    batch.records.lastOption.filter(_ => firstArrivalMillis.nonEmpty).foreach { last =>
      publisher.cancel()
      subscriber = new Queueing
      mustBegin = Some(last)
      publisher = publishers.subscribe(
        shard,
        StartingPosition.AtSequenceNumber(SequenceNumber.trusted(last.sequenceNumber)),
        subscriber
      )
    }
    publisher.request(maxBytesPerFetch)
  }

  /** Removes the record with which a response must begin. If it is not there, later records may have expired too. */
  private def withoutRepetition(batch: RecordBatch): RecordBatch = mustBegin match {
    case Some(last) if batch.records.nonEmpty =>
      mustBegin = None
      if (SequenceNumber.compareDigits(batch.records.head.sequenceNumber, last.sequenceNumber) == 0)
        batch.copy(records = batch.records.tail)
      else {
        val nextMillis = batch.records.head.arrivalMillis
        lose(
          s"record ${last.sequenceNumber} of the range after ${position(after)} expired before the records that " +
            s"follow it were read; the next record found arrived at ${Instant.ofEpochMilli(nextMillis)}",
          ExpiredMeanwhile
        )
        batch
      }
    case _ => batch
  }

  /** Records expire in the order of their arrival, so if the first record is another one, records have expired. */
  private def begin(first: KinesisRecord): Unit = {
    hasBegun = true
    firstArrivalMillis.filter(_ < first.arrivalMillis).foreach { planned =>
      lose(
        s"the range after ${position(after)} starts with records that arrived at ${Instant.ofEpochMilli(planned)}; " +
          s"the first record found arrived at ${Instant.ofEpochMilli(first.arrivalMillis)}",
        ExpiredMeanwhile
      )
    }
  }

  private def upTo(batch: RecordBatch, last: SequenceNumber): IndexedSeq[KinesisRecord] =
    batch.records.takeWhile(record => SequenceNumber.compareDigits(record.sequenceNumber, last.value) <= 0)

  /** Drops the user records outside of the range: a range can begin and end within an aggregate. */
  private def cut(built: Iterator[Chunk]): Iterator[Chunk] = {
    val begun = skipUpTo.fold(built)(skipped => built.flatMap(_.after(skipped)))
    end match {
      case RangeEnd.Within(last) => begun.flatMap(_.upTo(last))
      case _ => begun
    }
  }

  private def reachedEnd(batch: RecordBatch): Boolean = {
    val isAtTip = batch.millisBehindLatest == 0
    emptyTips = if (isAtTip && !batch.hadRecords) emptyTips + 1 else 0
    end match {
      case RangeEnd.At(number) => isAtOrAfter(batch, number)
      case RangeEnd.Within(last) => isAtOrAfter(batch, last.sequenceNumber)
      case RangeEnd.ShardEnd => false
      case RangeEnd.ArrivedBy(millis) =>
        // The range ended in the past when it was planned, so empty responses at the tip are sufficient, whatever the
        // clock of this process shows.
        (isAtTip && (batch.sentMillis >= millis || emptyTips >= EmptyTipsBeforeLoss)) ||
        batch.records.lastOption.exists(_.arrivalMillis > millis)
    }
  }

  private def isAtOrAfter(batch: RecordBatch, number: SequenceNumber): Boolean =
    emptyTips >= EmptyTipsBeforeLoss ||
      batch.records.lastOption.exists(last => SequenceNumber.compareDigits(last.sequenceNumber, number.value) >= 0)

  private def finish(shardEnded: Boolean): Unit = {
    isDone = true
    publisher.cancel()
    val mustExist = end match {
      case RangeEnd.At(number) => Some(number)
      case RangeEnd.Within(last) => Some(last.sequenceNumber)
      case _ => None
    }
    mustExist.filterNot(lastSeen.contains).foreach { number =>
      val where = if (shardEnded) "the shard ended"
      else lastSeen.fold("the shard has no record of the range")(last => s"the last record found is $last")
      val reason = s"the range after ${position(after)} ends with record $number, which is missing; $where"
      lose(reason, ExpiredMeanwhile)
    }
    // Of a range with unknown last record, at least the first one must exist.
    firstArrivalMillis.filterNot(_ => hasBegun).foreach { planned =>
      lose(
        s"the range after ${position(after)} starts with records that arrived at ${Instant.ofEpochMilli(planned)}; " +
          "the shard has no record of the range",
        ExpiredMeanwhile
      )
    }
  }

  private def lose(reason: String, cause: String): Unit = if (!hasLost) {
    hasLost = true
    losses.report(Loss.RangeMissing(shard, reason, cause))
  }

  private def position(position: StartingPosition): String = position match {
    case StartingPosition.AfterSequenceNumber(number) => number.value
    case other => other.toString
  }

  final private class Queueing extends RecordSubscriber {
    override def onBatch(batch: RecordBatch): Unit = inbox.put(Batch(this, batch))
    override def onShardEnd(children: Seq[ChildShard]): Unit = inbox.put(End)
    override def onError(error: ServiceException): Unit = inbox.put(Failed(this, error))
  }
}

object RangeReader {

  /** The bytes that two seconds of a shard's read quota allow. */
  val MaxBytesPerFetch: Long = 4L * 1024 * 1024

  /** Number of consecutive empty responses at the tip of the shard after which a planned record counts as lost. */
  private val EmptyTipsBeforeLoss = 3

  private val ExpiredMeanwhile =
    "After the records were planned and before they were read, they expired or the stream was recreated."

  /** What a subscriber, `from`, received. */
  sealed private trait Event
  final private case class Batch(from: RecordSubscriber, batch: RecordBatch) extends Event
  private case object End extends Event
  final private case class Failed(from: RecordSubscriber, error: ServiceException) extends Event
}
