package org.sparkkinesis.spark.session

import org.sparkkinesis.plan.{OffsetCodec, SourceOffset}

/**
 * Keeps where a query began, beside its checkpoint: Spark's offset log holds only the ends of batches, and a restart before the
 * first one must not begin anywhere else. Written once.
 */
final class InitialOffsetStore(files: CheckpointFiles) {

  /**
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE, KINESIS_OFFSET_INVALID
   */
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
