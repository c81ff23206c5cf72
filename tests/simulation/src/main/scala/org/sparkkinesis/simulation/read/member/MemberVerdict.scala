package org.sparkkinesis.simulation.read.member

import scala.collection.mutable

import org.sparkkinesis.plan.member.{EntryCodec, MetadataEntry, StreamWish}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset, StreamPhase}
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.read.{PutRecord, ReadLedger}

/**
 * Checks what the offsets of a query say about the streams of a logical stream: a stream that is parked as drained has
 * no record that was not delivered, no record of a stream is delivered before those that it follows are parked, and no
 * position is dropped before its time.
 *
 * @param read
 *   reads a file of the checkpoint
 * @param ledger
 *   receives when streams joined, were drained, returned and were dropped
 * @param graceMillis
 *   the value of `drainGrace`
 * @param retentionMillis
 *   the value of `removedStreamRetention`
 */
final class MemberVerdict(
    read: String => Option[String],
    ledger: ReadLedger,
    now: () => Long,
    graceMillis: Long,
    retentionMillis: Long
) {
  import MemberVerdict._

  private var known = Vector.empty[MetadataEntry]
  private var joins = 0L
  private var parked = 0L
  private var returned = 0L
  private var dropped = 0L

  /** The numbers of the entries that dropped streams last. */
  private var droppedBy = Map.empty[String, Long]

  /** The phases of the streams as the checkpoint had them last. */
  private var phases = Map.empty[String, StreamPhase]

  /** The streams that the query has parked since the last offset, and when. */
  private var parkedSince = Map.empty[String, Long]

  /** The streams among them that the query has parked as drained. */
  private var parkedDrained = Set.empty[String]

  /** The creation times of the streams in the last offset. */
  private var creations = Map.empty[String, Long]

  /** The numbers of streams that joined, were parked, returned and were dropped, over all batches. */
  def counts: MemberCounts = MemberCounts(joins, parked, returned, dropped)

  /** Takes over the entries of the metadata log that were written since the last call. */
  def noteEntries(): Unit = {
    val last = read("metadata-log").map(_.split(" ").last.toLong).getOrElse(0L)
    (known.lastOption.fold(0L)(_.number) + 1 to last).map(number =>
      EntryCodec.decode(read(s"metadata-entry-$number").get).fold(why => throw new Violation("metadata", why), identity)
    ).foreach { entry =>
      if (known.isEmpty) entry.joins.keys.foreach(ledger.joins(_, isFirst = true))
      else ledger.beginJoining(entry.joins.keys)
      known.lastOption.foreach(before => (before.wishes.keySet -- entry.wishes.keySet).foreach(drop(_, entry)))
      entry.wishes.foreach { case (arn, wish) =>
        if (wish == StreamWish.Read) {
          ledger.returned(arn)
          if (wasLeft(arn)) ledger.returnedUnread(arn)
        }
      }
      known :+= entry
    }
  }

  /** Whether the newest entry leaves a stream that was not read to its end. An offset may not say so yet. */
  private def wasLeft(arn: String): Boolean =
    known.lastOption.flatMap(_.wishes.get(arn)).exists(_.isInstanceOf[StreamWish.Park]) &&
      (phases.get(arn) match {
        case Some(StreamPhase.Parked(_, isDrained)) => !isDrained
        case _ => true
      })

  /** Checks that the position of a stream is dropped only after the stream was parked and unnamed for long enough. */
  private def drop(arn: String, entry: MetadataEntry): Unit = {
    val absentMillis = known.reverseIterator.takeWhile(!_.document.physical.contains(arn)).map(_.atMillis).minOption
    // The query parks a stream before the next batch, which may be long after that.
    val leftMillis = known.lastOption.flatMap(_.wishes.get(arn)).collect { case StreamWish.Park(since) => since }
    val parkedMillis =
      phases.get(arn).collect { case StreamPhase.Parked(at, _) => at }.orElse(leftMillis).orElse(parkedSince.get(arn))
    val isOver = Seq(absentMillis, parkedMillis).forall(_.exists(since => entry.atMillis - since > retentionMillis))
    if (!isOver && phases.contains(arn))
      throw new Violation("dropped", s"$arn is dropped at ${entry.atMillis}, absent $absentMillis, ${phases(arn)}")
    // The query may drop a stream before an offset says that it was parked.
    phases.get(arn).collect { case StreamPhase.Draining(since) if parkedDrained(arn) => since }
      .foreach(checkDrained(arn, creations(arn), _, s"before it was dropped at ${entry.atMillis}"))
    dropped += 1
    droppedBy += arn -> entry.number
    phases -= arn
    parkedSince -= arn
    parkedDrained -= arn
    ledger.dropped(arn)
  }

  /**
   * Records that the query has parked a stream, which the checkpoint may not have yet. The query's time of it is a
   * lower limit of the service's time.
   */
  def noteParked(arn: String, isDrained: Boolean): Unit = {
    parkedSince += arn -> (now() - MarginMillis)
    parkedDrained = if (isDrained) parkedDrained + arn else parkedDrained - arn
    if (isDrained && !known.lastOption.exists(_.wishes.get(arn).contains(StreamWish.Read)))
      ledger.drained(arn, drainedMillis(arn, creations.getOrElse(arn, 0), now()))
  }

  /** Takes over an offset of the checkpoint. */
  def noteOffset(offset: SourceOffset): Unit = {
    parkedSince = parkedSince.filterNot { case (arn, _) => offset.streams.get(arn).exists(!_.isParked) }
    parkedDrained = parkedDrained.filter(parkedSince.contains)
    creations = offset.streams.transform((_, stream) => stream.creationMillis)
    // A query that has not taken in yet that a stream was dropped does not join it again.
    offset.read.filterNot(stream => droppedBy.get(stream.arn).exists(_ > offset.version))
      .foreach(stream => ledger.joins(stream.arn, isFirst = false))
    offset.streams.foreach { case (arn, stream) =>
      ledger.parked(arn, isUnread = stream.isParked && !stream.isParkedDrained)
      (phases.get(arn), stream.phase) match {
        // It is absent if it stays parked with a version that wants it.
        case (Some(StreamPhase.Parked(before, true)), StreamPhase.Parked(at, true)) if before == at =>
          known.find(_.number == offset.version).filter(_ => isWanted(arn, offset.version))
            .foreach(entry => ledger.gone(arn, entry.atMillis))
        // A stream that should be read and was deleted is parked until it exists again. Nothing of it may be lost then.
        case (_, StreamPhase.Parked(at, true)) if isWanted(arn, offset.version) => ledger.gone(arn, at)
        case (_, StreamPhase.Parked(at, true)) => ledger.drained(arn, drainedMillis(arn, stream.creationMillis, at))
        case _ => ledger.found(arn, stream.creationMillis)
      }
    }
    phases = offset.streams.transform((_, stream) => stream.phase)
  }

  /** Whether the streams of a version are to be read, and this one is among them. */
  private def isWanted(arn: String, version: Long): Boolean =
    known.find(_.number == version).exists(_.wishes.get(arn).contains(StreamWish.Read))

  /** Returns a time before which every record of a stream was read that was parked as drained. */
  private def drainedMillis(arn: String, creationMillis: Long, parkedMillis: Long): Long =
    known.reverseIterator.flatMap(_.wishes.get(arn)).nextOption() match {
      case Some(StreamWish.Drain(since)) => endOfGrace(arn, creationMillis, since)
      case _ => parkedMillis - MarginMillis
    }

  /**
   * Returns until when a stream that drains is read. A stream that was created after this one was deleted is another
   * one, which does not drain.
   */
  private def endOfGrace(arn: String, creationMillis: Long, sinceMillis: Long): Long =
    math.min(sinceMillis + graceMillis - MarginMillis, ledger.deletedMillis(arn, creationMillis))

  /**
   * Checks a committed batch.
   *
   * @param streams
   *   the streams of its rows
   */
  def committed(batch: Long, streams: Set[String]): Unit = offset(batch).foreach { end =>
    val before = offset(batch - 1).getOrElse(SourceOffset(Nil))
    end.streams.foreach { case (arn, stream) =>
      val was = before.streams.get(arn).map(_.phase)
      (was, stream.phase) match {
        case (None, _) => joins += 1
        case (Some(_: StreamPhase.Parked), StreamPhase.Active) => returned += 1
        case (Some(StreamPhase.Draining(since)), StreamPhase.Parked(at, isDrained)) =>
          parked += 1
          // What was delivered of a stream that was dropped is forgotten.
          val isLeft = isDrained && !isWanted(arn, end.version) && !droppedBy.get(arn).exists(_ > end.version)
          if (isLeft) checkDrained(arn, stream.creationMillis, since, s"at $at in batch $batch")
        case _ => ()
      }
    }
    val earlierOf = order(end)
    for {
      arn <- streams
      earlier <- earlierOf.getOrElse(arn, Set.empty[String])
    } throw new Violation("after", s"batch $batch has records of $arn, and $earlier is not read to its end")
  }

  private def checkDrained(arn: String, creationMillis: Long, sinceMillis: Long, when: String): Unit =
    unread(arn, endOfGrace(arn, creationMillis, sinceMillis)).foreach(record =>
      throw new Violation("drain", s"$arn is parked as drained $when, but $record is not read")
    )

  /**
   * Returns the streams that must be read before each stream and are not read to their ends. The newest document that
   * has a stream applies to it. Where documents contradict each other, the newer one applies.
   */
  private def order(end: SourceOffset): Map[String, Set[String]] = {
    val before = mutable.HashMap.empty[String, Set[String]]
    @scala.annotation.tailrec
    def leadsTo(streams: Set[String], other: String, seen: Set[String]): Boolean = streams(other) || {
      val next = streams.flatMap(before.getOrElse(_, Set.empty[String])) -- seen -- streams
      next.nonEmpty && leadsTo(next, other, seen ++ streams)
    }
    for {
      document <- known.reverseIterator.filter(_.number <= end.version).map(_.document)
      stream <- document.streams.valuesIterator.flatten if !before.contains(stream.arn)
    } before(stream.arn) = stream.after.filter(one =>
      end.streams.get(one).fold(document.physical.contains(one))(!_.isParked) &&
        !leadsTo(Set(one), stream.arn, Set.empty)
    )
    before.toMap
  }

  /** Returns a record that arrived before a time, can be read, and was not delivered. */
  private def unread(arn: String, untilMillis: Long): Option[PutRecord] = ledger.missing.find(record =>
    record.arn == arn && record.arrivalMillis <= untilMillis && ledger.goneMillis(record) > now()
  )

  private def offset(batch: Long): Option[SourceOffset] = read(s"offsets/$batch").map(OffsetCodec.decode)
}

private[read] object MemberVerdict {

  /** The tolerance of times, which the query knows from the answers of the service. */
  private val MarginMillis = 3000L
}

/** Counts of streams that came and went. */
final case class MemberCounts(joined: Long, parked: Long, returned: Long, dropped: Long)
