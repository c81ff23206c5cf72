package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.plan.offset.{OffsetCodec, SourceOffset}

/**
 * Stores a query's initial offset in its checkpoint directory. Spark's offset log holds only the ends of batches, and
 * a restart before the first batch must start at the same position. Written once.
 */
final class InitialOffsetStore(files: CheckpointFiles) {

  /**
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE, KINESIS_OFFSET_INVALID
   */
  /** Returns the stored offset; otherwise stores and returns `choose`. */
  def getOrElseUpdate(choose: => SourceOffset): SourceOffset =
    files.read(InitialOffsetStore.Name).map(OffsetCodec.decode).getOrElse {
      val chosen = choose
      files.write(InitialOffsetStore.Name, OffsetCodec.encode(chosen))
      chosen
    }
}

private object InitialOffsetStore {
  val Name = "initial-offset"
}
