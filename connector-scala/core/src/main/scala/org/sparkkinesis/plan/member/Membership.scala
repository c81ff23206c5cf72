package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.plan.offset.{SourceOffset, StreamOffset, StreamPhase}

/**
 * Moves the streams of an offset through their phases: they join, drain, are parked, and return. Pure.
 *
 * A stream is active as long as the metadata names it, then it is drained, and at last parked. A parked stream that the
 * metadata names again is read on from its position.
 */
object Membership {

  /** Returns the offset with the streams and phases of the entries that follow its version, in their order. */
  def takeIn(offset: SourceOffset, entries: Seq[MetadataEntry]): SourceOffset =
    entries.filter(_.number > offset.version).sortBy(_.number).foldLeft(offset)(takeIn)

  private def takeIn(offset: SourceOffset, entry: MetadataEntry): SourceOffset = {
    val known = offset.streams.collect {
      case (arn, stream) if entry.wishes.contains(arn) => arn -> stream.copy(phase = next(stream, entry.wishes(arn)))
    }
    val joined = entry.joins.collect {
      case (arn, join) if entry.wishes.contains(arn) && !known.contains(arn) =>
        arn -> join.copy(phase = next(join, entry.wishes(arn)))
    }
    SourceOffset(known ++ joined, entry.number)
  }

  private def next(stream: StreamOffset, wish: StreamWish): StreamPhase = (stream.phase, wish) match {
    case (_, StreamWish.Read) => StreamPhase.Active
    // The stream may have got more records since it was parked.
    case (StreamPhase.Parked(at, _), StreamWish.Drain(since)) if since > at => StreamPhase.Draining(since)
    case (parked: StreamPhase.Parked, _) => parked
    case (_, StreamWish.Drain(since)) => StreamPhase.Draining(since)
    case (_, StreamWish.Park(since)) => StreamPhase.Parked(since, isDrained = false)
  }

  /**
   * Parks the draining streams that have no more records, or that could not be drained in time.
   *
   * @param isDrained
   *   whether every record was planned that arrived up to a time, and no later one is fetched
   * @param graceMillis
   *   time after its removal for which a stream may still get records
   * @param timeoutMillis
   *   maximum time of draining
   */
  def park(
      offset: SourceOffset,
      nowMillis: Long,
      graceMillis: Long,
      timeoutMillis: Long,
      isDrained: (String, Long) => Boolean
  ): SourceOffset = {
    val parked = offset.streams.values.flatMap { stream =>
      stream.phase match {
        case StreamPhase.Draining(since) if isDrained(stream.arn, since + graceMillis) =>
          Some(stream.copy(phase = StreamPhase.Parked(nowMillis, isDrained = true)))
        case StreamPhase.Draining(since) if nowMillis > since + math.max(graceMillis, timeoutMillis) =>
          Some(stream.copy(phase = StreamPhase.Parked(nowMillis, isDrained = false)))
        case _ => None
      }
    }
    if (parked.isEmpty) offset else offset.copy(streams = offset.streams ++ parked.map(one => one.arn -> one))
  }

  /**
   * Parks the streams that cannot be read, although they are to be read. An entry that follows resumes them at their
   * positions: an active stream becomes active again, and one that was draining is drained.
   *
   * @param held
   *   the streams that cannot be read, and whether every record of them was read before
   */
  def hold(offset: SourceOffset, before: SourceOffset, nowMillis: Long, held: Map[String, Boolean]): SourceOffset = {
    val parked = held.iterator.flatMap { case (arn, isDrained) =>
      offset.streams.get(arn).map(_ -> isDrained)
    }.collect {
      case (stream, isDrained) if !stream.isParked =>
        val known = before.streams.get(stream.arn).map(_.phase).collect { case parked: StreamPhase.Parked => parked }
        stream.copy(phase = known.getOrElse(stream.phase match {
          // A stream is drained if its removal is later than the time at which it was parked.
          case StreamPhase.Draining(since) => StreamPhase.Parked(since - 1, isDrained)
          case _ => StreamPhase.Parked(nowMillis, isDrained)
        }))
    }.toVector
    if (parked.isEmpty) offset else offset.copy(streams = offset.streams ++ parked.map(one => one.arn -> one))
  }

  /**
   * Returns the streams that wait until others are read: those whose predecessors are in the offset and not parked, or
   * in the document and not in the offset yet.
   *
   * @param entries
   *   the entries up to the version of the offset, the newest last. The newest document that has a stream applies to
   *   it: later ones may lack it by mistake, or because it was removed, and its records still follow those of others.
   */
  def waiting(offset: SourceOffset, entries: Seq[MetadataEntry]): Set[String] = {
    val newestFirst = entries.reverse
    // The log may not have the document any more that named a stream.
    val documents = (newestFirst.iterator.map(_.document) ++ newestFirst.iterator.map(_.former)).toVector
    StreamOrder.of(
      offset.read.map(_.arn).toSet,
      documents,
      (document, before) => offset.streams.get(before).fold(document.physical.contains(before))(!_.isParked)
    ).collect { case (arn, before) if before.nonEmpty && offset.streams.contains(arn) => arn }.toSet
  }

  /**
   * Returns the start of a batch with the streams that joined in it, at the positions of the log.
   *
   * @param joins
   *   returns the position from which a stream was read that joined after the first and up to the second version
   */
  def withJoined(start: SourceOffset, end: SourceOffset, joins: (String, Long, Long) => StreamOffset): SourceOffset = {
    val joined = end.streams.keysIterator.filterNot(start.streams.contains)
      .map(arn => arn -> joins(arn, start.version, end.version)).to(SortedMap)
    if (joined.isEmpty) start else start.copy(streams = start.streams ++ joined)
  }
}
