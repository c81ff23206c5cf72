package org.sparkkinesis.spark.session

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.sparkkinesis.error.KinesisConnectorException

/**
 * A text that is kept beside a query's checkpoint.
 *
 * Its methods throw KINESIS_CHECKPOINT_UNWRITABLE.
 */
final private[session] class CheckpointFile(location: String, name: String, conf: Configuration) {
  private val file = new Path(location, name)

  /** None when it was never written. */
  def read(): Option[String] = explained {
    try
      Using.resource(file.getFileSystem(conf).open(file)) { in =>
        Some(new String(in.readAllBytes(), StandardCharsets.UTF_8))
      }
    catch { case _: FileNotFoundException => None }
  }

  /** Writes it, in the place of what was there; a crash never leaves half of it. */
  def write(text: String): Unit = explained {
    val unfinished = new Path(file.getParent, s".$name.${UUID.randomUUID()}")
    val files = file.getFileSystem(conf)
    files.mkdirs(file.getParent)
    Using.resource(files.create(unfinished, false))(_.write(text.getBytes(StandardCharsets.UTF_8)))
    // Not every file system renames over what is there.
    files.delete(file, false)
    if (!files.rename(unfinished, file)) throw new IOException(s"$unfinished could not be renamed to $file")
  }

  /** Deleting what is not there does no harm. */
  def delete(): Unit = explained {
    file.getFileSystem(conf).delete(file, false)
    ()
  }

  private def explained[A](body: => A): A =
    try body
    catch {
      case failure: IOException =>
        throw KinesisConnectorException.causedBy(
          failure,
          "KINESIS_CHECKPOINT_UNWRITABLE",
          "location" -> location,
          "reason" -> String.valueOf(failure.getMessage)
        )
    }
}
