package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset, StreamPhase}

/**
 * The streams of a query whose options list them, after the list has changed between two runs. Added streams join,
 * and streams that are not listed any more leave. Pure.
 */
object ListedStreams {

  /**
   * Returns the positions of the streams that join: the known ones that no offset has yet, and a new one for each other
   * stream.
   *
   * @param start
   *   the end of the last batch
   * @param known
   *   positions of streams that joined before
   * @param join
   *   returns the position from which a stream is read
   */
  def joins(
      start: SourceOffset,
      listed: Set[String],
      known: SortedMap[String, StreamOffset],
      join: String => StreamOffset
  ): SortedMap[String, StreamOffset] = (listed -- start.streams.keySet).iterator.map(arn =>
    arn -> known.getOrElse(arn, join(arn))
  ).to(SortedMap)

  /** Returns the offset with exactly the listed streams. They are all read, also those that were parked before. */
  def take(
      from: SourceOffset,
      listed: Set[String],
      joins: SortedMap[String, StreamOffset]
  ): SourceOffset = {
    val isSame = from.version == 0 && from.streams.keySet == listed && from.read.size == listed.size
    if (isSame) from
    else
      SourceOffset(joins.filter { case (arn, _) => listed(arn) } ++ from.streams.collect {
        case (arn, stream) if listed(arn) => arn -> stream.copy(phase = StreamPhase.Active)
      })
  }
}
