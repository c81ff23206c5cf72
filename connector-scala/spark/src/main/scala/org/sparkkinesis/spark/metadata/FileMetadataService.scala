package org.sparkkinesis.spark.metadata

import java.io.{FileNotFoundException, IOException}

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.fs.{FileSystem, Path}

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.event.{EventSink, MetadataFileUnprotected}
import org.sparkkinesis.metadata._

/** Reads the metadata document from a file of any file system of Hadoop's configuration. */
final private[metadata] class FileMetadataService(name: String, conf: Configuration, events: EventSink)
    extends StreamMetadataService {
  private val path = new Path(name)
  private var hasWarned = false

  override def address: String = s"file:$name"

  override def fetch(ids: StreamIds, known: Option[Tag]): MetadataAnswer =
    try {
      val files = path.getFileSystem(conf)
      warnOfOthers(files)
      val bytes = Using.resource(files.open(path))(_.readNBytes(DocumentParser.MaxBytes + 1))
      Documents.answer(ids, this, bytes, known, None)
    } catch {
      case _: FileNotFoundException => throw Documents.unavailable(ids, this, "The file does not exist.")
      case failure: IOException =>
        Futures.interruptOf(failure).foreach(throw _)
        throw Documents.unavailable(ids, this, s"The file cannot be read: ${failure.getMessage}").causedBy(failure)
    }

  /** Only local files have permissions that mean something to other users of the machine. */
  private def warnOfOthers(files: FileSystem): Unit = if (!hasWarned && files.getUri.getScheme == "file") {
    val access = files.getFileStatus(path).getPermission.getOtherAction
    if (access.implies(FsAction.WRITE)) {
      hasWarned = true
      events.emit(MetadataFileUnprotected(name))
    }
  }

  override def close(): Unit = ()
}
