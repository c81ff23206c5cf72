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

  /** Returns the stored read position for this offset; the offset itself if there is none. */
  def of(offset: SourceOffset): SourceOffset = synchronized(noted).filter(_._1 == offset).fold(offset)(_._2)

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
