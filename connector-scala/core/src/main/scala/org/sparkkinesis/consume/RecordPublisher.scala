package org.sparkkinesis.consume

import org.sparkkinesis.event.OngoingOutage
import org.sparkkinesis.model.{ChildShard, KinesisRecord, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Publishes the records of one shard in order from one position on, within demand.
 *
 * It starts immediately but delivers nothing before the first `request`. Both methods return immediately and may be
 * called from any thread.
 */
trait RecordPublisher {

  /**
   * Requests one more batch.
   *
   * @param maxBytes
   *   approximate maximum size of the batch in bytes; enhanced fan-out cannot respect it
   */
  def request(maxBytes: Long): Unit

  /** Stops publishing. A callback that is running completes. */
  def cancel(): Unit
}

/**
 * Receives the records of a publisher, in order and never concurrently, on a thread that must not wait for the service.
 * It may write to a local file: the threads are those of the consumers, never those of the network.
 *
 * No callback follows `onShardEnd` or `onError`.
 */
trait RecordSubscriber {

  /** Called once per `request`. The batch may be empty. */
  def onBatch(batch: RecordBatch): Unit

  /** All records of the shard were delivered. `children` is empty if the service did not name them. */
  def onShardEnd(children: Seq[ChildShard]): Unit

  /** Publishing cannot continue, because the error is not recoverable or the retry policy allows no more retries. */
  def onError(error: ServiceException): Unit
}

/**
 * The records of one response or one pushed event.
 *
 * @param sentMillis
 *   a lower limit of the time when the service sent the response or event, in epoch milliseconds: it may have waited
 *   in a buffer, or this process may have stood still. For an event, the limit may be up to ten seconds too late
 * @param isRepetition
 *   whether the service sent only records that were received before, which `records` does not contain
 */
final case class RecordBatch(
    records: IndexedSeq[KinesisRecord],
    millisBehindLatest: Long,
    sentMillis: Long,
    isRepetition: Boolean = false
) {

  /** Whether the response or event had records. Only one without records shows that the shard is still open. */
  def hadRecords: Boolean = records.nonEmpty || isRepetition

  /**
   * All records that arrived until this time, in epoch milliseconds, have been delivered. If possible, it is derived
   * from the service's clock.
   */
  def readUpToMillis: Long =
    if (records.isEmpty) sentMillis - millisBehindLatest
    else if (millisBehindLatest == 0) math.max(sentMillis, records.last.arrivalMillis)
    else records.last.arrivalMillis
}

object RecordBatch {

  /**
   * Creates the last batch of a closed shard. Its `millisBehindLatest` is not 0, because new records go to the child
   * shards, which this batch does not describe. The end of the shard is reported separately.
   */
  def atShardEnd(records: IndexedSeq[KinesisRecord], sentMillis: Long): RecordBatch =
    RecordBatch(records, millisBehindLatest = 1, sentMillis)
}

/** Creates publishers of one kind: polling or enhanced fan-out. Thread-safe. */
trait RecordPublisherFactory {
  def subscribe(shard: StreamShard, position: StartingPosition, subscriber: RecordSubscriber): RecordPublisher

  /** Returns the streams for which the publishers' calls have received no answer for some time. */
  def unreachable: Set[String] = Set.empty

  /** Returns the streams whose calls fail now and are repeated. */
  def outages: Seq[OngoingOutage] = Nil
}
