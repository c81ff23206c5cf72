package org.sparkkinesis.event

import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.Operation

/** Calls of one operation that the service throttled, for one shard if the operation has one. */
final case class ThrottledCalls(stream: String, shard: Option[ShardId], operation: Operation, calls: Long)

/**
 * Calls of a stream that fail now and are repeated.
 *
 * @param millis
 *   time since the first of them was noticed
 * @param reason
 *   reason of the last failure
 */
final case class OngoingOutage(stream: String, shards: Int, millis: Long, reason: String)

/**
 * The state of the consumers of one source in one executor, besides their counters.
 *
 * @param bufferBytes
 *   size of the prefetch buffer in bytes
 * @param pollingSlowdown
 *   greatest factor by which polling of a shard is slower than its quota allows; 1 if none is slowed down
 * @param throttled
 *   the shards and operations with the most throttled calls since the consumers started, the greatest number first
 */
final case class ConsumerHealth(
    bufferBytes: Long = 0,
    pollingSlowdown: Double = 1,
    throttled: Seq[ThrottledCalls] = Nil,
    outages: Seq[OngoingOutage] = Nil
)

object ConsumerHealth {

  /** Maximum number of `throttled`. */
  val MaxThrottled = 10
}
