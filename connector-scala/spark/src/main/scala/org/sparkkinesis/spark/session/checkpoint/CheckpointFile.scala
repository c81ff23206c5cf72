package org.sparkkinesis.spark.session.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.error.ReadErrors

/**
 * A text file in a query's checkpoint directory.
 *
 * Its methods throw KINESIS_CHECKPOINT_UNWRITABLE, or `InterruptedException` if their thread is interrupted.
 */
final private[spark] class CheckpointFile(location: String, name: String, conf: Configuration) {
  private val file = new Path(location, name)

  /** Holds the complete newest text from before the old file is deleted until after it is replaced. */
  private val next = new Path(location, s".$name.next")

  /** Returns the text; `None` when it was never written. */
  def read(): Option[String] = explained(textOf(file).orElse(textOf(next)))

  /** Replaces the text. After a crash at any point, [[read]] returns the complete old or new text. */
  def write(text: String): Unit = explained {
    val files = file.getFileSystem(conf)
    val unfinished = new Path(location, s".$name.${UUID.randomUUID()}")
    files.mkdirs(file.getParent)
    Using.resource(files.create(unfinished, false))(_.write(text.getBytes(StandardCharsets.UTF_8)))
    // After a crash, this file may be the only complete text.
    if (!files.exists(file) && files.exists(next)) rename(files, next, file)
    // Some file systems cannot rename over an existing file.
    files.delete(next, false)
    rename(files, unfinished, next)
    files.delete(file, false)
    rename(files, next, file)
  }

  /** Returns the file's modification time by the file system's clock, or `None` if the file does not exist. */
  def writtenMillis(): Option[Long] = explained {
    try Some(file.getFileSystem(conf).getFileStatus(file).getModificationTime)
    catch { case _: FileNotFoundException => None }
  }

  /** Deletes the file if it exists. */
  def delete(): Unit = explained {
    Seq(next, file).foreach(file.getFileSystem(conf).delete(_, false))
  }

  private def textOf(path: Path): Option[String] =
    try
      Using.resource(path.getFileSystem(conf).open(path)) { in =>
        Some(new String(in.readAllBytes(), StandardCharsets.UTF_8))
      }
    catch { case _: FileNotFoundException => None }

  private def rename(files: FileSystem, from: Path, to: Path): Unit =
    if (!files.rename(from, to)) throw new IOException(s"$from could not be renamed to $to")

  private def explained[A](body: => A): A = CheckpointFile.explained(location)(body)
}

private[spark] object CheckpointFile {

  /** Returns the names of the files that begin with this prefix, also of files whose replacement was interrupted. */
  def names(location: String, prefix: String, conf: Configuration): Set[String] = explained(location) {
    val folder = new Path(location)
    val all =
      try folder.getFileSystem(conf).listStatus(folder).iterator.map(_.getPath.getName).toSet
      catch { case _: FileNotFoundException => Set.empty[String] }
    val unfinished = all.filter(name => name.startsWith(".") && name.endsWith(".next"))
    (all ++ unfinished.map(_.stripPrefix(".").stripSuffix(".next"))).filter(_.startsWith(prefix))
  }

  private def explained[A](location: String)(body: => A): A =
    try body
    catch {
      case failure: IOException =>
        Futures.interruptOf(failure).foreach(throw _)
        throw ReadErrors.checkpointUnwritable(
          location = location,
          reason = String.valueOf(failure.getMessage)
        ).causedBy(failure)
    }
}
