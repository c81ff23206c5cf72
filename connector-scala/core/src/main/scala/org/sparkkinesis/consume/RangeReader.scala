package org.sparkkinesis.consume

import java.util.concurrent.LinkedBlockingQueue

import org.sparkkinesis.chunk.{Chunk, ChunkBuilder}
import org.sparkkinesis.concurrent.{BlockingWait, Waiting}
import org.sparkkinesis.error.{DataLossPolicy, ReadErrors}
import org.sparkkinesis.event.{DataLost, EventSink}
import org.sparkkinesis.model.{ChildShard, KinesisRecord, SequenceNumber, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/** Where a bounded read of one shard ends. */
sealed trait RangeEnd

object RangeEnd {

  /** With the record of this number, which must exist. */
  final case class At(sequenceNumber: SequenceNumber) extends RangeEnd

  /** With the shard's last record; an open shard is read for ever. */
  case object ShardEnd extends RangeEnd

  /** With the last record that arrived until then, or the end of the shard. "What is there now" is the present time. */
  final case class ArrivedBy(epochMillis: Long) extends RangeEnd
}

/**
 * Reads one range of one shard directly from the service, in order, on the caller's thread, which waits for it.
 *
 * It never waits for a record that cannot come: when `RangeEnd.At` names a record that is gone, it fails with
 * `KINESIS_DATA_LOSS` or ends, as `losses` says; both emit [[DataLost]]. Close it when it is not read to its end.
 * Interrupting the thread ends the wait.
 */
final class RangeReader(
    publishers: RecordPublisherFactory,
    shard: StreamShard,
    after: StartingPosition,
    end: RangeEnd,
    chunks: ChunkBuilder,
    losses: DataLossPolicy = DataLossPolicy.Strict,
    maxBytesPerFetch: Long = RangeReader.MaxBytesPerFetch,
    waiting: Waiting = BlockingWait,
    events: EventSink = EventSink.Discard
) extends Iterator[Chunk]
    with AutoCloseable {
  import RangeReader._

  private val inbox = new LinkedBlockingQueue[Event]
  private val publisher = publishers.subscribe(shard, after, new Queueing)
  private var ready = Iterator.empty[Chunk]
  private var isDone = false
  private var lastSeen: Option[SequenceNumber] = None
  private var emptyTips = 0

  publisher.request(maxBytesPerFetch)

  /** @throws ServiceException when the service cannot be read */
  override def hasNext: Boolean = {
    while (!ready.hasNext && !isDone)
      waiting.take(inbox) match {
        case Batch(batch) => take(batch)
        case End => finish(shardEnded = true)
        case Failed(error) =>
          isDone = true
          if (!MissingResource.of(error).contains(MissingResource.Shard)) throw error
          lose(
            s"the range after ${position(after)} is of a shard that is gone",
            s"A closed shard vanishes when its last record expires. The service said: ${error.detail}"
          )
      }
    ready.hasNext
  }

  override def next(): Chunk = if (hasNext) ready.next() else Iterator.empty.next()

  override def close(): Unit = {
    isDone = true
    ready = Iterator.empty
    publisher.cancel()
  }

  private def take(batch: RecordBatch): Unit = {
    val wanted = end match {
      case RangeEnd.At(number) =>
        batch.records.takeWhile(record => SequenceNumber.compareDigits(record.sequenceNumber, number.value) <= 0)
      case RangeEnd.ShardEnd => batch.records
      case RangeEnd.ArrivedBy(millis) => batch.records.filter(_.arrivalMillis <= millis)
    }
    wanted.lastOption.foreach(record => lastSeen = Some(SequenceNumber.trusted(record.sequenceNumber)))
    if (reachedEnd(batch)) finish(shardEnded = false) else publisher.request(maxBytesPerFetch)
    if (!isDone || wanted.nonEmpty) ready = chunks.build(wanted, batch.millisBehindLatest).iterator
  }

  private def reachedEnd(batch: RecordBatch): Boolean = {
    val isAtTip = batch.millisBehindLatest == 0
    end match {
      case RangeEnd.At(number) =>
        emptyTips = if (isAtTip && batch.records.isEmpty) emptyTips + 1 else 0
        emptyTips >= TipsToBelieve || batch.records.lastOption.exists(isAtOrAfter(_, number))
      case RangeEnd.ShardEnd => false
      case RangeEnd.ArrivedBy(millis) =>
        (isAtTip && batch.receivedMillis >= millis) || batch.records.lastOption.exists(_.arrivalMillis > millis)
    }
  }

  private def isAtOrAfter(record: KinesisRecord, number: SequenceNumber): Boolean =
    SequenceNumber.compareDigits(record.sequenceNumber, number.value) >= 0

  private def finish(shardEnded: Boolean): Unit = {
    isDone = true
    publisher.cancel()
    end match {
      case RangeEnd.At(number) if !lastSeen.contains(number) =>
        val where = if (shardEnded) "the shard ended"
        else lastSeen.fold("no record of the range is left")(last => s"the last one found is $last")
        val reason = s"the range after ${position(after)} ends with record $number, which is not there; $where"
        lose(
          reason,
          "The records were planned while they were in the stream, and expired, or the stream was created anew, before they were read."
        )
      case _ => ()
    }
  }

  private def lose(reason: String, cause: String): Unit = {
    events.emit(DataLost(shard.stream, shard.shard, reason, losses.endsQuery))
    losses.lost(ReadErrors.dataLoss(shard.shard.value, shard.stream, reason, cause))
  }

  private def position(position: StartingPosition): String = position match {
    case StartingPosition.AfterSequenceNumber(number) => number.value
    case other => other.toString
  }

  final private class Queueing extends RecordSubscriber {
    override def onBatch(batch: RecordBatch): Unit = inbox.put(Batch(batch))
    override def onShardEnd(children: Seq[ChildShard]): Unit = inbox.put(End)
    override def onError(error: ServiceException): Unit = inbox.put(Failed(error))
  }
}

object RangeReader {

  /** Two fetches of a shard's read quota. */
  val MaxBytesPerFetch: Long = 4L * 1024 * 1024

  /** Empty answers at the tip, one after the other, before a planned record is taken to be gone. */
  private val TipsToBelieve = 3

  sealed private trait Event
  final private case class Batch(batch: RecordBatch) extends Event
  private case object End extends Event
  final private case class Failed(error: ServiceException) extends Event
}
