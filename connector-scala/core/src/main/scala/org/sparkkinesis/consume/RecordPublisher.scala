package org.sparkkinesis.consume

import org.sparkkinesis.model.{ChildShard, KinesisRecord, StartingPosition, StreamShard}
import org.sparkkinesis.service.ServiceException

/**
 * Publishes the records of one shard, in order, from one position on, as they are asked for.
 *
 * It starts at once but delivers nothing before the first `request`. Both calls may be made from any thread and return at once.
 */
trait RecordPublisher {

  /**
   * Allows one more batch.
   *
   * @param maxBytes
   *   about how much it should hold; a publisher that is pushed to cannot respect it
   */
  def request(maxBytes: Long): Unit

  /** Ends it; at most the callback that is running now is still finished. */
  def cancel(): Unit
}

/**
 * What a publisher tells, in order, never two at once, on a thread that must not be blocked.
 *
 * After `onShardEnd` or `onError` nothing follows.
 */
trait RecordSubscriber {

  /** One for each `request`; it may be empty. */
  def onBatch(batch: RecordBatch): Unit

  /** Every record of the shard was delivered. `children` is empty where the service did not name them. */
  def onShardEnd(children: Seq[ChildShard]): Unit

  /** It cannot go on: not recoverable, or retried as often as the policy allows. */
  def onError(error: ServiceException): Unit
}

/**
 * One answer, or one pushed event.
 *
 * @param receivedMillis
 *   when it came, epoch milliseconds
 */
final case class RecordBatch(records: IndexedSeq[KinesisRecord], millisBehindLatest: Long, receivedMillis: Long) {

  /** Every record that had arrived at this time has been delivered. The service's own clock is taken where there is one. */
  def readUpToMillis: Long =
    if (millisBehindLatest == 0 || records.isEmpty) receivedMillis - millisBehindLatest else records.last.arrivalMillis
}

object RecordBatch {

  /**
   * The last records of a closed shard. They are at no tip: what arrives now goes to the shard's children, of which this batch says
   * nothing. The shard's end is told apart from it.
   */
  def atShardEnd(records: IndexedSeq[KinesisRecord], receivedMillis: Long): RecordBatch =
    RecordBatch(records, millisBehindLatest = 1, receivedMillis)
}

/** Makes publishers of one kind: polling, or enhanced fan-out. Thread-safe. */
trait RecordPublisherFactory {
  def subscribe(shard: StreamShard, position: StartingPosition, subscriber: RecordSubscriber): RecordPublisher
}
