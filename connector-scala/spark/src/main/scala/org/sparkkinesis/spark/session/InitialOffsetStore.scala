package org.sparkkinesis.spark.session

import org.apache.hadoop.conf.Configuration

import org.sparkkinesis.plan.{OffsetCodec, SourceOffset}

/**
 * Keeps where a query began, beside its checkpoint: Spark's offset log holds only the ends of batches, and a restart before the
 * first one must not begin anywhere else. Written once.
 */
final class InitialOffsetStore(location: String, conf: Configuration) {
  private val file = new CheckpointFile(location, "initial-offset", conf)

  /**
   * @throws KinesisConnectorException
   *   KINESIS_CHECKPOINT_UNWRITABLE, KINESIS_OFFSET_INVALID
   */
  def getOrElseUpdate(choose: => SourceOffset): SourceOffset = file.read().map(OffsetCodec.decode).getOrElse {
    val chosen = choose
    file.write(OffsetCodec.encode(chosen))
    chosen
  }
}
