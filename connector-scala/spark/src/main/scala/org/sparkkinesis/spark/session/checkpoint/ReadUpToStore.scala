package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.error.{KinesisConnectorException, ReadErrors}
import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}

/**
 * Stores, in the checkpoint directory, how far a stream was read while there were no records to plan. Spark's offset
 * log does not contain this: after a restart, an idle shard would look as if its records had expired unread.
 * Thread-safe.
 */
final class ReadUpToStore(files: CheckpointFiles) {
  import ReadUpToStore._

  private var noted: Option[(SourceOffset, SourceOffset)] = read()

  /**
   * Returns the stored read position for this offset; the offset itself if there is none. A stream that is at the same
   * position keeps its read position, although another stream has moved or was recreated. Streams that have joined
   * after the offset are kept until a batch ends with them.
   */
  def of(offset: SourceOffset): SourceOffset = synchronized(noted).fold(offset) { case (before, readUpTo) =>
    // Phases are stored with the positions. Those of another version may be older than the ones of the offset.
    val isOfVersion = before.version == offset.version && readUpTo.version == offset.version
    if (before == offset) readUpTo
    else if (isBeforeJoins(before, offset, readUpTo))
      readUpTo.copy(streams = readUpTo.streams.map { case (arn, stream) =>
        val now = offset.streams.get(arn).filterNot(before.streams.get(arn).contains)
        arn -> now.fold(stream)(_.copy(phase = stream.phase))
      })
    else offset.copy(streams = offset.streams.map { case (arn, stream) =>
      val isSame = before.streams.get(arn).contains(stream)
      arn -> readUpTo.streams.get(arn).filter(_ => isSame)
        .fold(stream)(read => if (isOfVersion) read else read.copy(phase = stream.phase))
    })
  }

  /** Whether `now` is the stored offset, except for streams that were recreated, and has no streams that joined. */
  private def isBeforeJoins(before: SourceOffset, now: SourceOffset, readUpTo: SourceOffset): Boolean =
    before.version == now.version && before.version < readUpTo.version &&
      before.streams.keySet == now.streams.keySet

  /** Stores that nothing is left to read between `offset` and `readUpTo`. */
  def note(offset: SourceOffset, readUpTo: SourceOffset): Unit = synchronized(if (readUpTo != of(offset)) {
    files.write(Name, s"${OffsetCodec.encode(offset)}\n${OffsetCodec.encode(readUpTo)}")
    noted = Some(offset -> readUpTo)
  })

  /** Ignores a file that cannot be decoded: the checkpoint is complete without it. */
  private def read(): Option[(SourceOffset, SourceOffset)] = files.read(Name).map(_.linesIterator.toSeq).collect {
    case Seq(offset, readUpTo) =>
      try Some(OffsetCodec.decode(offset) -> OffsetCodec.decode(readUpTo))
      catch { case invalid: KinesisConnectorException if ReadErrors.isOffsetInvalid(invalid) => None }
  }.flatten
}

private object ReadUpToStore {
  val Name = "read-up-to"
}
