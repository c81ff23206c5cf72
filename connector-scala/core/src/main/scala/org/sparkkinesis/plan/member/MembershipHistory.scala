package org.sparkkinesis.plan.member

import scala.collection.immutable.SortedMap

import org.sparkkinesis.config.value.OnStreamRemoved
import org.sparkkinesis.metadata.{MetadataDocument, PhysicalStream, StreamState}
import org.sparkkinesis.plan.offset.StreamOffset

/**
 * Decides what an answer of the metadata service means for the streams of a query, and makes the next entry of its
 * metadata log. Pure, except that it counts the answers in a row that lack a stream.
 *
 * @param log
 *   the entries of the log, in the order of their numbers
 * @param confirmations
 *   number of answers in a row that must lack a stream before it counts as removed
 * @param retentionMillis
 *   time for which the position of a stream is kept that is parked and that the documents lack, from the later of the
 *   two times
 */
final class MembershipHistory(
    log: Seq[MetadataEntry],
    onRemoved: OnStreamRemoved,
    confirmations: Long,
    retentionMillis: Long
) {
  private var last = log.lastOption.map { entry =>
    // Entries of earlier versions of the connector do not have the streams that they do not name.
    val unnamed = entry.wishes.keySet -- entry.document.physical.keySet
    val absent = unnamed.iterator.map(arn => arn -> entry.absent.getOrElse(arn, entry.atMillis)).to(SortedMap)
    entry.copy(former = named(unnamed, entry.document.version, log), absent = absent)
  }

  /** The number of answers in a row that lack a known stream. */
  private var missing = Map.empty[String, Long]

  def newest: Option[MetadataEntry] = last

  private def wishes: SortedMap[String, StreamWish] = last.fold(SortedMap.empty[String, StreamWish])(_.wishes)

  /** Returns the streams of the document that have to be prepared before they can join. */
  def toPrepare(document: MetadataDocument): Seq[String] = document.physical.valuesIterator
    .filter(stream => stream.state != StreamState.Standby && !wishes.contains(stream.arn)).map(_.arn).toSeq

  /**
   * Counts an answer. Returns the streams that it removes, because enough answers in a row lack them.
   *
   * An answer that names none of the known streams removes none, because it is more likely to be wrong.
   */
  def removed(document: MetadataDocument): Set[String] =
    if (namesKnown(document)) {
      missing = (wishes.keySet -- document.physical.keySet).iterator
        .map(arn => arn -> (missing.getOrElse(arn, 0L) + 1)).toMap
      wishes.iterator.collect { case (arn, StreamWish.Read) if isMissing(arn) => arn }.toSet
    } else Set.empty

  private def namesKnown(document: MetadataDocument): Boolean = wishes.keysIterator.exists(document.physical.contains)

  private def isMissing(arn: String): Boolean = missing.get(arn).exists(_ >= confirmations)

  /**
   * Returns the next entry, or `None` if nothing changed.
   *
   * @param removed
   *   the streams that [[removed]] returned
   * @param prepared
   *   positions of the streams that join
   * @param areReachable
   *   whether streams can be read again that the query could not read for a while
   * @param parked
   *   the streams that the query does not read any more, as far as it knows, and since when in epoch milliseconds
   */
  def next(
      document: MetadataDocument,
      removed: Set[String],
      prepared: Iterable[StreamOffset],
      nowMillis: Long,
      areReachable: Boolean = false,
      parked: Map[String, Long] = Map.empty
  ): Option[MetadataEntry] = {
    val joins = prepared.map(join => join.arn -> join).to(SortedMap)
    val kept = wishes.flatMap { case (arn, was) =>
      document.physical.get(arn).map(_.state) match {
        case Some(StreamState.Active) => Some(arn -> StreamWish.Read)
        case Some(_) => Some(arn -> since(was, nowMillis, OnStreamRemoved.Drain))
        case None if removed(arn) => Some(arn -> since(was, nowMillis, onRemoved))
        case None =>
          val isOver = namesKnown(document) && parked.get(arn).exists(isPastRetention(arn, was, _, nowMillis))
          Option.unless(isOver)(arn -> was)
      }
    }
    val added = joins.keysIterator.map { arn =>
      val isActive = document.physical.get(arn).exists(_.state == StreamState.Active)
      arn -> (if (isActive) StreamWish.Read else StreamWish.Drain(nowMillis))
    }
    val all = kept ++ added
    val unnamed = all.keySet -- document.physical.keySet
    val isNew = areReachable || !last.exists(entry => entry.document == document && entry.wishes == all)
    Option.when(isNew)(
      MetadataEntry(
        number,
        nowMillis,
        document,
        all,
        joins,
        named(unnamed, document.version, last.toSeq),
        unnamed.iterator.map(arn => arn -> absentSince(arn, nowMillis)).to(SortedMap)
      )
    )
  }

  /** Returns streams as the newest one of the entries knows them, those of newer documents first. */
  private def named(arns: Set[String], version: Long, entries: Seq[MetadataEntry]): MetadataDocument = {
    val streams = for {
      entry <- entries.reverseIterator
      document <- Iterator(entry.document, entry.former)
      (id, listed) <- document.streams.iterator
      stream <- listed if arns(stream.arn)
    } yield id -> stream
    val newest = streams.distinctBy(_._2.arn).take(arns.size).toVector
    if (newest.isEmpty) MetadataEntry.NoStreams
    else MetadataDocument(version, newest.groupMap(_._1)(_._2).to(SortedMap))
  }

  /** Returns an entry that has exactly these streams, which the query reads already. */
  def restated(streams: Iterable[PhysicalStream], id: String, nowMillis: Long): MetadataEntry = MetadataEntry(
    number,
    nowMillis,
    MetadataDocument(last.fold(0L)(_.document.version), SortedMap(id -> streams.toVector)),
    streams.map(stream => stream.arn -> wishes.getOrElse(stream.arn, StreamWish.Read)).to(SortedMap),
    SortedMap.empty[String, StreamOffset]
  )

  private def number: Long = last.fold(1L)(_.number + 1)

  /** Records that the entry was written. */
  def note(entry: MetadataEntry): Unit = last = Some(entry)

  private def since(was: StreamWish, nowMillis: Long, how: OnStreamRemoved): StreamWish = was match {
    case StreamWish.Read if how == OnStreamRemoved.Park => StreamWish.Park(nowMillis)
    case StreamWish.Read => StreamWish.Drain(nowMillis)
    case leaving => leaving
  }

  private def isPastRetention(arn: String, was: StreamWish, parkedMillis: Long, nowMillis: Long): Boolean =
    was != StreamWish.Read && isMissing(arn) &&
      nowMillis - math.max(parkedMillis, absentSince(arn, nowMillis)) > retentionMillis

  private def absentSince(arn: String, nowMillis: Long): Long = last.flatMap(_.absent.get(arn)).getOrElse(nowMillis)
}
