package org.sparkkinesis.spark.session.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * Text files in a query's checkpoint directory, by name. A crash never leaves a partial text.
 *
 * Its methods throw KINESIS_CHECKPOINT_UNWRITABLE.
 */
trait CheckpointFiles {

  /** Returns the text; `None` when it was never written. */
  def read(name: String): Option[String]

  /** Replaces the text. */
  def write(name: String, text: String): Unit

  /** Deletes the text if it exists. */
  def delete(name: String): Unit

  /** Returns the names of all texts that begin with this prefix. */
  def names(prefix: String): Set[String]

  /** The time of the query's first start by the file system's clock, or `None` if it is unknown. */
  def startedMillis: Option[Long]
}

/** Stores the files on the file system of the checkpoint. */
final class HadoopCheckpointFiles(location: String, conf: Configuration) extends CheckpointFiles {
  override def read(name: String): Option[String] = file(name).read()
  override def write(name: String, text: String): Unit = file(name).write(text)
  override def delete(name: String): Unit = file(name).delete()
  override def names(prefix: String): Set[String] = CheckpointFile.names(location, prefix, conf)

  /** Spark writes the query's metadata before `start()` returns, two levels above the location of a source. */
  override def startedMillis: Option[Long] =
    Option(new Path(location).getParent).flatMap(sources => Option(sources.getParent)).flatMap(root =>
      new CheckpointFile(root.toString, "metadata", conf).writtenMillis()
    )

  private def file(name: String): CheckpointFile = new CheckpointFile(location, name, conf)
}
