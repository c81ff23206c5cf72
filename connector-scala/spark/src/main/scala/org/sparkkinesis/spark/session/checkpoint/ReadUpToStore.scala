package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset, StreamOffset}

/**
 * Stores, in the checkpoint directory, how far a stream was read while there were no records to plan. Spark's offset
 * log does not contain this: after a restart, an idle shard would look as if its records had expired unread.
 *
 * It keeps this for the last two offsets: the last batch in Spark's log may run again, and begins at the offset before
 * it. Thread-safe.
 */
final class ReadUpToStore(files: CheckpointFiles) {
  import ReadUpToStore._

  /** The newest first. */
  private var noted: Seq[Noted] = read()

  /**
   * Returns the stored read position for this offset; the offset itself if there is none. A stream that is at the same
   * position keeps its read position, although another stream has moved or was recreated. Streams that have joined
   * after the offset are kept until a batch ends with them.
   */
  def of(offset: SourceOffset): SourceOffset = {
    val all = synchronized(noted)
    def known = all.find(_.offset == offset).map(_.readUpTo)
    def recreated = all.find(_.isBeforeJoins(offset)).map(_.withJoined(offset))
    known.orElse(recreated).getOrElse(offset.copy(streams = offset.streams.map { case (arn, stream) =>
      arn -> all.flatMap(_.of(offset, stream)).headOption.getOrElse(stream)
    }))
  }

  /** Stores that nothing is left to read between `offset` and `readUpTo`. */
  def note(offset: SourceOffset, readUpTo: SourceOffset): Unit = synchronized(if (readUpTo != of(offset)) {
    val all = (Noted(offset, readUpTo) +: noted.filter(_.offset != offset)).take(MaxNoted)
    files.write(Name, all.flatMap(one => Seq(one.offset, one.readUpTo).map(OffsetCodec.encode)).mkString("\n"))
    noted = all
  })

  /** Ignores a file that cannot be decoded: the checkpoint is complete without it. */
  private def read(): Seq[Noted] =
    try files.read(Name).fold(Seq.empty[Noted])(_.linesIterator.map(OffsetCodec.decode).grouped(2).collect {
        case Seq(offset, readUpTo) => Noted(offset, readUpTo)
      }.toSeq)
    catch { case invalid: KinesisConnectorException if ReadErrors.isOffsetInvalid(invalid) => Nil }
}

private object ReadUpToStore {
  val Name = "read-up-to"

  /** The offset of the last batch, and the one at which it begins. */
  val MaxNoted = 2

  /** Nothing is left to read between `offset` and `readUpTo`. */
  final case class Noted(offset: SourceOffset, readUpTo: SourceOffset) {

    /** Whether `now` is the offset, except for streams that were recreated, and has no streams that joined. */
    def isBeforeJoins(now: SourceOffset): Boolean =
      offset.version == now.version && offset.version < readUpTo.version && offset.streams.keySet == now.streams.keySet

    /** Returns the read position with the streams of `now` that were recreated, and those that joined. */
    def withJoined(now: SourceOffset): SourceOffset =
      readUpTo.copy(streams = readUpTo.streams.map { case (arn, stream) =>
        val other = now.streams.get(arn).filterNot(offset.streams.get(arn).contains)
        arn -> other.fold(stream)(_.copy(phase = stream.phase))
      })

    /**
     * Returns the read position of a stream that is at the same position in `now`. Phases are stored with the
     * positions: those of another version may be older than the ones of `now`.
     */
    def of(now: SourceOffset, stream: StreamOffset): Option[StreamOffset] = {
      val isOfVersion = offset.version == now.version && readUpTo.version == now.version
      val read = readUpTo.streams.get(stream.arn).filter(_ => offset.streams.get(stream.arn).contains(stream))
      read.map(one => if (isOfVersion) one else one.copy(phase = stream.phase))
    }
  }
}
