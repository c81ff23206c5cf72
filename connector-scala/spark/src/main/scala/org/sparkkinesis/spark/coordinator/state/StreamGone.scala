package org.sparkkinesis.spark.coordinator.state

import org.sparkkinesis.model.StreamShard
import org.sparkkinesis.spark.coordinator.state.StreamGone._

/**
 * What the coordinator knows of a stream that does not exist any more.
 *
 * @param failure
 *   shows that it does not exist
 * @param atMillis
 *   a time that is not earlier than the service's time of the failure, in epoch milliseconds
 * @param readThen
 *   the shards that had no more records then
 */
final private[coordinator] case class StreamGone(failure: Throwable, atMillis: Long, readThen: Set[StreamShard]) {

  /**
   * Whether a shard of the stream had no more records. Later answers are of a stream that was created since: they say
   * nothing about this one.
   */
  def isRead(track: ShardTrack): Boolean = !track.lacksLostRecords &&
    (readThen(track.shard) || (track.readUpToMillis <= atMillis && isReadAt(atMillis, track)))
}

private[coordinator] object StreamGone {

  /**
   * The maximum age of the last answer. A polling consumer asks more often by default, and a subscription answers at
   * least every five seconds. The deletion of a stream takes longer as a rule, and its records can be read meanwhile.
   */
  val LastAnswerMillis = 10000L

  /**
   * Returns what is known of a stream when it is found not to exist.
   *
   * @param atMillis
   *   a time that is not earlier than the service's present time, in epoch milliseconds
   * @param tracks
   *   the shards of the stream
   */
  def apply(failure: Throwable, atMillis: Long, tracks: Iterator[ShardTrack]): StreamGone =
    StreamGone(failure, atMillis, tracks.filter(isReadAt(atMillis, _)).map(_.shard).toSet)

  /**
   * Whether a shard had no more records. An open shard may have got records between its last answer and the deletion of
   * its stream, which the query never sees, so that answer must not be old.
   */
  private def isReadAt(atMillis: Long, track: ShardTrack): Boolean =
    !track.lacksLostRecords && (track.ended || isAtTip(atMillis, track))

  private def isAtTip(atMillis: Long, track: ShardTrack) = track.readUpToMillis > 0 &&
    track.millisBehindLatest.contains(0L) && atMillis - track.readUpToMillis <= LastAnswerMillis
}
