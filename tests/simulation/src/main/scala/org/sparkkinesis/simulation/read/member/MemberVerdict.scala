package org.sparkkinesis.simulation.read.member

import org.sparkkinesis.plan.member.{EntryCodec, MetadataEntry}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset, StreamPhase}
import org.sparkkinesis.simulation.common.Violation

/**
 * Checks what the offsets of a query say about the streams of a logical stream: a stream that is parked as drained has
 * no record that was not delivered, and no record of a stream is delivered before those that it follows are parked.
 *
 * @param read
 *   reads a file of the checkpoint
 * @param graceMillis
 *   the value of `drainGrace`
 * @param unread
 *   returns a record of a stream that arrived before a time, can be read, and was not delivered
 */
final class MemberVerdict(
    read: String => Option[String],
    graceMillis: Long,
    unread: (String, Long) => Option[Any]
) {
  import MemberVerdict._

  private var known = Vector.empty[MetadataEntry]
  private var joins = 0L
  private var parked = 0L
  private var returned = 0L

  /** The numbers of streams that joined, were parked, and returned, over all batches. */
  def counts: MemberCounts = MemberCounts(joins, parked, returned)

  /** The streams that joined with the first version. */
  def first: Iterable[String] = known.headOption.toSeq.flatMap(_.joins.keys)

  /** Takes over the entries of the metadata log that were written since the last call. */
  def noteEntries(): Unit = {
    val last = read("metadata-log").map(_.split(" ").last.toLong).getOrElse(0L)
    known ++= (known.lastOption.fold(0L)(_.number) + 1 to last).map(number =>
      EntryCodec.decode(read(s"metadata-entry-$number").get).fold(why => throw new Violation("metadata", why), identity)
    )
  }

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
          if (isDrained) unread(arn, since + graceMillis - MarginMillis).foreach(record =>
            throw new Violation("drain", s"$arn is parked as drained at $at in batch $batch, but $record is not read")
          )
        case _ => ()
      }
    }
    for {
      arn <- streams
      earlier <- follows(arn, end.version)
      if end.streams.get(earlier).exists(!_.isParked)
    } throw new Violation("after", s"batch $batch has records of $arn, and $earlier is not read to its end")
  }

  /** Returns the streams that must be read before a stream, as the last document said that had the stream. */
  private def follows(arn: String, version: Long): Set[String] = known.reverseIterator.filter(_.number <= version)
    .flatMap(_.document.physical.get(arn)).nextOption().fold(Set.empty[String])(_.after)

  private def offset(batch: Long): Option[SourceOffset] = read(s"offsets/$batch").map(OffsetCodec.decode)
}

private[read] object MemberVerdict {

  /** The tolerance of times, which the query knows from the answers of the service. */
  private val MarginMillis = 3000L
}

/** Counts of streams that came and went. */
final case class MemberCounts(joined: Long, parked: Long, returned: Long)
