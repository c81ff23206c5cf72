package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.spark.coordinator.state.StreamGone._

/**
 * What the coordinator knows of a stream that does not exist any more.
 *
 * @param failure
 *   shows that it does not exist
 * @param atMillis
 *   a time that is not earlier than the service's time of the failure, in epoch milliseconds
 */
final private[coordinator] case class StreamGone(failure: Throwable, atMillis: Long) {

  /**
   * Whether a shard of the stream had no more records. An open shard may have got records between its last answer and
   * the deletion of its stream, which the query never sees, so that answer must not be old.
   */
  def isRead(track: ShardTrack): Boolean = !track.lacksLostRecords && (track.ended || isAtTip(track))

  private def isAtTip(track: ShardTrack) = track.readUpToMillis > 0 && track.millisBehindLatest.contains(0L) &&
    atMillis - track.readUpToMillis <= LastAnswerMillis
}

private[coordinator] object StreamGone {

  /**
   * The maximum age of the last answer. A polling consumer asks more often by default, and a subscription answers at
   * least every five seconds. The deletion of a stream takes longer as a rule, and its records can be read meanwhile.
   */
  val LastAnswerMillis = 10000L
}
