package org.sparkkinesis.emulator.store

import java.io.{FileOutputStream, OutputStream}
import java.nio.file.{Files, Path}
import java.time.format.DateTimeFormatter
import java.time.{Instant, ZoneOffset}
import java.util.Comparator
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.emulator.engine.delivery.{DeliveryStore, DeliveryStream}
import org.sparkkinesis.model.KinesisQuotas

/**
 * Writes delivered records into files, as the service writes them into objects of a bucket:
 * `BUCKET/PREFIXyyyy/MM/dd/HH/NAME-1-yyyy-MM-dd-HH-mm-ss-NUMBER`, with nothing between two records. A file ends when
 * its size or its age reaches the buffering hints of its stream. Unlike the service, which delivers a file when it is
 * complete, a record is in its file when its put is answered. Thread-safe.
 *
 * @param configured
 *   the root folder; if empty, a temporary folder that `close` deletes
 */
final class DeliveryFiles(configured: Option[Path]) extends DeliveryStore {
  import DeliveryFiles._

  final private class Open(val out: OutputStream, val sinceMillis: Long) {
    var bytes = 0L
  }

  final private class Target {
    var current = Option.empty[Open]
    var files = 0
  }

  private val targets = new ConcurrentHashMap[DeliveryStream, Target]
  private var temporary = Option.empty[Path]

  /** The root folder of all files. */
  def root: Path = configured.getOrElse(synchronized {
    if (temporary.isEmpty) temporary = Some(Files.createTempDirectory("firehose-emulator"))
    temporary.get
  })

  override def append(stream: DeliveryStream, records: IndexedSeq[Array[Byte]], nowMillis: Long): Unit = {
    val target = targets.computeIfAbsent(stream, _ => new Target)
    target.synchronized {
      val file = target.current.filterNot(isComplete(stream, _, nowMillis)).getOrElse(next(stream, target, nowMillis))
      val bytes = join(records)
      file.out.write(bytes)
      file.bytes += bytes.length
    }
  }

  override def end(stream: DeliveryStream): Unit = Option(targets.remove(stream)).foreach { target =>
    target.synchronized(target.current.foreach(_.out.close()))
  }

  override def close(): Unit = {
    targets.keySet.asScala.toVector.foreach(end)
    synchronized(temporary.foreach(deleteAll))
  }

  private def isComplete(stream: DeliveryStream, file: Open, nowMillis: Long): Boolean =
    file.bytes >= stream.destination.bufferMBs.toLong * KinesisQuotas.MiB ||
      nowMillis - file.sinceMillis >= math.max(1, stream.destination.bufferSeconds) * 1000L

  private def next(stream: DeliveryStream, target: Target, nowMillis: Long): Open = {
    target.current.foreach(_.out.close())
    target.files += 1
    val time = Instant.ofEpochMilli(nowMillis).atOffset(ZoneOffset.UTC)
    val folders = (stream.destination.prefix + FolderTime.format(time)).split('/').toSeq.filter(_.nonEmpty)
    val folder = (stream.destination.bucket +: folders).map(FileNames.of).foldLeft(root)(_.resolve(_))
    val name = FileNames.of(s"${stream.name}-1-${FileTime.format(time)}-${target.files}")
    Files.createDirectories(folder)
    val made = new Open(new FileOutputStream(folder.resolve(name).toFile, true), nowMillis)
    target.current = Some(made)
    made
  }
}

private[store] object DeliveryFiles {
  private val FolderTime = DateTimeFormatter.ofPattern("yyyy/MM/dd/HH")
  private val FileTime = DateTimeFormatter.ofPattern("yyyy-MM-dd-HH-mm-ss")

  private def join(records: IndexedSeq[Array[Byte]]): Array[Byte] = {
    val joined = new Array[Byte](records.iterator.map(_.length).sum)
    var at = 0
    records.foreach { record =>
      System.arraycopy(record, 0, joined, at, record.length)
      at += record.length
    }
    joined
  }

  private def deleteAll(folder: Path): Unit = Using.resource(Files.walk(folder)) { paths =>
    paths.sorted(Comparator.reverseOrder[Path]).iterator.asScala.foreach(Files.delete)
  }
}
