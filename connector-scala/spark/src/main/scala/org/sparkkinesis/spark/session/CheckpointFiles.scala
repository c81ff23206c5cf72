package org.sparkkinesis.spark.session

import org.apache.hadoop.conf.Configuration

/**
 * Texts that are kept beside a query's checkpoint, by name. A crash never leaves half of one.
 *
 * Its methods throw KINESIS_CHECKPOINT_UNWRITABLE.
 */
trait CheckpointFiles {

  /** None when it was never written. */
  def read(name: String): Option[String]

  /** Replaces what was there. */
  def write(name: String, text: String): Unit

  /** Deletes the text, if there is one. */
  def delete(name: String): Unit
}

/** Keeps them on the file system of the checkpoint. */
final class HadoopCheckpointFiles(location: String, conf: Configuration) extends CheckpointFiles {
  override def read(name: String): Option[String] = file(name).read()
  override def write(name: String, text: String): Unit = file(name).write(text)
  override def delete(name: String): Unit = file(name).delete()

  private def file(name: String): CheckpointFile = new CheckpointFile(location, name, conf)
}
