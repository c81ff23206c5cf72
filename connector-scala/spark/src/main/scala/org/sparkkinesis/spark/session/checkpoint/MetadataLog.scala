package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.error.ReadErrors
import org.sparkkinesis.plan.member.{EntryCodec, MetadataEntry}

/**
 * The metadata log in a query's checkpoint directory: each version of the metadata document that was taken in, with the
 * positions of the streams that it added. An entry is written before an offset names one of its streams.
 *
 * One thread writes, and the query's thread reads.
 */
final class MetadataLog(files: CheckpointFiles) {
  import MetadataLog._

  @volatile private var known: Vector[MetadataEntry] = load()

  /** The entries that are kept, in the order of their numbers. */
  def entries: Vector[MetadataEntry] = known

  def newest: Option[MetadataEntry] = known.lastOption

  /** Adds the next entry. After a crash at any point it is there completely or not at all. */
  def append(entry: MetadataEntry): Unit = synchronized {
    files.write(name(entry.number), EntryCodec.encode(entry))
    files.write(Bounds, s"${known.headOption.getOrElse(entry).number} ${entry.number}")
    known = known :+ entry
  }

  /** Deletes entries that no offset from this version on needs, except for the last ones. */
  def purge(version: Long): Unit = if (known.size > Kept) synchronized {
    val (old, kept) = known.partition(entry => entry.number < math.min(version, known.last.number - Kept))
    if (old.nonEmpty) {
      files.write(Bounds, s"${kept.head.number} ${kept.last.number}")
      old.foreach(entry => files.delete(name(entry.number)))
      known = kept
    }
  }

  private def load(): Vector[MetadataEntry] = files.read(Bounds) match {
    case Some(Range(first, last)) =>
      // The entry after the last one may have been written before a crash; it counts only with its bounds.
      (first.toLong to last.toLong).map { number =>
        files.read(name(number)).toRight("it is missing").flatMap(EntryCodec.decode)
          .fold(reason => throw damaged(number, reason), identity)
      }.toVector
    case Some(text) => throw ReadErrors.offsetInvalid(reason = "the bounds of the metadata log are damaged", text)
    case None => Vector.empty
  }

  private def damaged(number: Long, reason: String) =
    ReadErrors.offsetInvalid(
      reason = s"entry $number of the metadata log cannot be read: $reason",
      offset = name(number)
    )
}

private object MetadataLog {

  /** Number of entries that are always kept, for an operator. */
  val Kept = 100L
  val Bounds = "metadata-log"
  private val Range = "([0-9]{1,18}) ([0-9]{1,18})".r

  def name(number: Long): String = s"metadata-entry-$number"
}
