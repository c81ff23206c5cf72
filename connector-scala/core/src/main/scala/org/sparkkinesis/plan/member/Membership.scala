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
        arn -> withoutTimes(join).copy(phase = next(join, entry.wishes(arn)))
    }
    SourceOffset(known ++ joined, entry.number)
  }

  /**
   * Returns the offset with the phases that the entry of its version wants. An earlier run may have parked streams
   * because it could not read them; they are read from their positions.
   */
  def resume(offset: SourceOffset, entry: MetadataEntry): SourceOffset = {
    val resumed = for {
      (arn, stream) <- offset.streams
      wish <- entry.wishes.get(arn)
      phase = next(stream, wish) if phase != stream.phase
    } yield arn -> stream.copy(phase = phase)
    if (resumed.isEmpty) offset else offset.copy(streams = offset.streams ++ resumed)
  }

  /**
   * Returns since when a stream that is parked in an offset is to be read again, in epoch milliseconds: since an entry
   * after the offset that returns it, which is later than when it was parked even if a wrong clock says otherwise; or
   * since it was parked, if it was to be read all the time.
   */
  def wantedSince(offset: SourceOffset, parked: StreamOffset, entries: Seq[MetadataEntry]): Option[Long] =
    parked.phase match {
      case StreamPhase.Parked(at, _) =>
        def returns(entry: MetadataEntry) =
          entry.wishes.get(parked.arn).exists(wish => !parked.copy(phase = next(parked, wish)).isParked)
        if (entries.exists(entry => entry.number == offset.version && returns(entry))) Some(at)
        else
          entries.filter(entry => entry.number > offset.version && returns(entry)).map(_.atMillis).minOption
            .map(math.max(_, at + 1))
      case _ => None
    }

  /**
   * Returns a stream that joins without the times of the join. A stream that is read has the times of its first fetch,
   * because nothing is lost before it.
   */
  private def withoutTimes(join: StreamOffset): StreamOffset = join.copy(since = SortedMap.empty)

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
   *   the streams that cannot be read, and whether every record of them was read. A stream that was parked before may
   *   have got records since: this value replaces that of its phase.
   */
  def hold(offset: SourceOffset, before: SourceOffset, nowMillis: Long, held: Map[String, Boolean]): SourceOffset = {
    val parked = held.iterator.flatMap { case (arn, isDrained) =>
      offset.streams.get(arn).map(_ -> isDrained)
    }.collect {
      case (stream, isDrained) if !stream.isParked =>
        val known = before.streams.get(stream.arn).map(_.phase).collect { case StreamPhase.Parked(since, _) =>
          StreamPhase.Parked(since, isDrained)
        }
        stream.copy(phase = known.getOrElse(stream.phase match {
          // A stream is drained if its removal is later than the time at which it was parked.
          case StreamPhase.Draining(since) => StreamPhase.Parked(since - 1, isDrained)
          case _ => StreamPhase.Parked(nowMillis, isDrained)
        }))
    }.toVector
    if (parked.isEmpty) offset else offset.copy(streams = offset.streams ++ parked.map(one => one.arn -> one))
  }

  /**
   * Returns the offset with times for the streams that are parked now and were not parked before. After they return,
   * these times show whether records have expired meanwhile.
   *
   * @param timed
   *   returns a stream with a time for each position
   */
  def timed(before: SourceOffset, now: SourceOffset, timed: StreamOffset => StreamOffset): SourceOffset = {
    val parked = if (before eq now) Nil
    else
      now.streams.valuesIterator.filter(stream =>
        stream.isParked && !before.streams.get(stream.arn).exists(_.isParked)
      ).map(stream => stream.arn -> timed(stream)).toVector
    if (parked.isEmpty) now else now.copy(streams = now.streams ++ parked)
  }

  /**
   * Returns the streams that wait until others are read: those whose predecessors are in the offset and not parked, or
   * in the document and not in the offset yet.
   *
   * @param entries
   *   the entries up to the version of the offset, the newest last. The newest document that has a stream applies to
   *   it: later ones may lack it by mistake, or because it was removed, and its records still follow those of others.
   */
  def waiting(offset: SourceOffset, entries: Seq[MetadataEntry]): Set[String] =
    // Spark asks every few milliseconds, and most documents have no order.
    if (entries.exists(entry => entry.document.isOrdered || entry.former.isOrdered)) inOrder(offset, entries)
    else Set.empty

  private def inOrder(offset: SourceOffset, entries: Seq[MetadataEntry]): Set[String] = {
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
   * Returns the start of a batch with the streams that joined in it.
   *
   * @param joined
   *   returns the position from which a stream was read; empty if it did not join in the batch
   * @param missing
   *   returns the error for a stream without such a position
   */
  def withJoined(
      start: SourceOffset,
      end: SourceOffset,
      joined: String => Option[StreamOffset],
      missing: String => Throwable
  ): SourceOffset = {
    val joins = end.streams.keysIterator.flatMap { arn =>
      val join = joined(arn)
      if (join.isEmpty && !start.streams.contains(arn)) throw missing(arn)
      join.map(position => arn -> withoutTimes(position))
    }.to(SortedMap)
    if (joins.isEmpty) start else start.copy(streams = start.streams ++ joins)
  }

  /**
   * Returns the position from which a stream was read that joined in a batch. A stream that the start of the batch has
   * joined only if an entry of the batch dropped it before. A start with version 0 shows nothing about that: queries
   * with fixed streams write this version, whatever the log has.
   *
   * @param between
   *   the entries that the batch took in
   */
  def joinIn(between: Seq[MetadataEntry], start: SourceOffset, arn: String): Option[StreamOffset] = {
    val isKnown = start.streams.contains(arn)
    val absent = if (isKnown) between.dropWhile(_.wishes.contains(arn)) else between
    if (isKnown && start.version == 0) None else absent.reverseIterator.flatMap(_.joins.get(arn)).nextOption()
  }
}
