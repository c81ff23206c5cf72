package org.sparkkinesis.spark.session.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.event.{StreamDropped, StreamJoined}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.plan.member.{ListedStreams, Membership}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset, StreamOffset}
import org.sparkkinesis.spark.session.StreamSession
import org.sparkkinesis.spark.session.checkpoint.CheckpointFiles

/**
 * The streams of a query whose options list them. The list may change when the query restarts: an added stream joins at
 * its position, which is stored before an offset names the stream, and a removed one leaves. For the query's thread.
 *
 * @param position
 *   returns the position of a stream that joins, by its ARN and the time at which this run opened the streams, which is
 *   also the time of "latest"
 */
final class ListedMembers(
    session: StreamSession,
    files: CheckpointFiles,
    position: (String, Long) => PositionOption
) extends ChangingStreams {
  import ListedMembers._

  /** ARNs of the streams that are read. */
  val listed: Set[String] = session.streams.keySet.toSet
  private val openedMillis = session.serviceClock.atLeast
  private val deleted = new DeletedStreams(session)
  private var joins = ListedMembers.read(files)

  /** The last offset and what [[current]] returned for it: the planner compares references. */
  private var last = Option.empty[(SourceOffset, SourceOffset)]

  /**
   * Returns the position of the query with the streams that are listed now.
   *
   * @param start
   *   the end of the last batch
   * @param from
   *   the position of the query, at `start` or after it if there was nothing to plan
   */
  def current(start: SourceOffset, from: SourceOffset): SourceOffset =
    last.filter(_._1 eq from).map(_._2).getOrElse {
      val joining = ListedStreams.joins(
        start,
        listed,
        joins.pending,
        arn => session.initialOffsets.of(arn, position(arn, openedMillis), openedMillis)
      )
      // The last batch may run again, so the positions of streams that the offset has are kept.
      val taken = (joins.taken ++ joins.pending).filter { case (arn, _) => start.streams.contains(arn) }
      store(Joins(joining, taken))
      if (last.isEmpty) start.streams.keysIterator.filterNot(listed).foreach(arn =>
        session.events.emit(StreamDropped(arn))
      )
      val now = ListedStreams.take(from, listed, joining)
      last = Some(from -> now)
      now
    }

  private def store(now: Joins): Unit = if (now != joins) {
    files.write(Name, Seq(now.pending, now.taken).map(all => OffsetCodec.encode(SourceOffset(all))).mkString("\n"))
    now.pending.foreach { case (arn, join) =>
      if (!joins.pending.contains(arn)) session.events.emit(StreamJoined(arn, join.shards.size))
    }
    joins = now
  }

  override def known(arn: String): Option[PhysicalStream] = PhysicalStream.ofArn(arn)

  override def withJoined(start: SourceOffset, end: SourceOffset): SourceOffset = Membership.withJoined(
    start,
    end,
    arn => if (start.streams.contains(arn)) None else joins.pending.get(arn).orElse(joins.taken.get(arn)),
    arn =>
      ReadErrors.offsetInvalid(
        reason = s"the checkpoint does not have the position from which $arn was read",
        offset = Name
      )
  )

  /** Opens the streams that are not listed any more. */
  override def openForBatch(start: SourceOffset, end: SourceOffset): Unit = deleted.openForBatch(
    start,
    end,
    known(_).foreach(session.open(_, mustBeOwn = false))
  )
}

private object ListedMembers {
  val Name = "joined-streams"

  /**
   * The positions from which streams joined, by ARN.
   *
   * @param pending
   *   streams that no offset has yet
   * @param taken
   *   streams that the offset has, and had not when an earlier run ended
   */
  final case class Joins(pending: SortedMap[String, StreamOffset], taken: SortedMap[String, StreamOffset])

  def read(files: CheckpointFiles): Joins =
    files.read(Name).map(_.linesIterator.map(OffsetCodec.decode(_).streams).toSeq) match {
      case Some(Seq(pending, taken)) => Joins(pending, taken)
      case Some(other) => throw ReadErrors.offsetInvalid(
          reason = s"the positions of joined streams have ${other.size} lines instead of 2",
          offset = Name
        )
      case None => Joins(SortedMap.empty[String, StreamOffset], SortedMap.empty[String, StreamOffset])
    }
}
