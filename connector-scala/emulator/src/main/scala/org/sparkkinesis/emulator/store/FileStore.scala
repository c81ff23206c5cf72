package org.sparkkinesis.emulator.store

import java.io.{BufferedOutputStream, DataOutputStream, FileOutputStream}
import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.Comparator
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.emulator.engine.Engine
import org.sparkkinesis.emulator.engine.shard.{ShardLog, StoredRecord}
import org.sparkkinesis.emulator.engine.stream.{DataStream, StreamStore}

/**
 * Keeps streams in a directory, for users who develop with the emulator: one folder for each stream, with its
 * description as JSON and one log file for each shard. A record is handed to the operating system before its put is
 * answered, so it survives the end of the process but not a power failure. Thread-safe.
 */
final class FileStore(root: Path) extends StreamStore {
  private val logs = new ConcurrentHashMap[ShardLog, DataOutputStream]

  /** Restores the streams in the directory. Called once, before the emulator serves requests. */
  def load(engine: Engine): Unit = {
    Files.createDirectories(root)
    Using.resource(Files.walk(root, FileStore.Depth)) { paths =>
      paths.iterator.asScala
        .filter(_.getFileName.toString == FileStore.Description)
        .toVector
        .foreach(file => StoredStream.load(engine, file.getParent))
    }
  }

  private def folder(stream: DataStream): Path =
    Seq(stream.account, stream.region, stream.name).map(FileNames.of).foldLeft(root)(_.resolve(_))

  override def settingsChanged(stream: DataStream): Unit = stream.synchronized {
    val home = Files.createDirectories(folder(stream))
    val next = home.resolve(s"${FileStore.Description}.next")
    Using.resource(new BufferedOutputStream(Files.newOutputStream(next)))(StoredStream.write(stream, _))
    Files.move(next, home.resolve(FileStore.Description), StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  override def appended(stream: DataStream, shard: ShardLog, record: StoredRecord): Unit = {
    val log = logs.computeIfAbsent(shard, _ => open(folder(stream).resolve(ShardLogFile.fileName(shard.index))))
    log.synchronized {
      ShardLogFile.write(log, record)
      log.flush()
    }
  }

  private def open(file: Path): DataOutputStream =
    new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file.toFile, true), FileStore.BufferBytes))

  override def deleted(stream: DataStream): Unit = {
    stream.shards.all.foreach(shard => Option(logs.remove(shard)).foreach(_.close()))
    val home = folder(stream)
    if (Files.exists(home))
      Using.resource(Files.walk(home)) { paths =>
        paths.sorted(Comparator.reverseOrder[Path]).iterator.asScala.foreach(Files.delete)
      }
  }

  override def close(): Unit = logs.values.asScala.foreach(_.close())
}

private[store] object FileStore {
  val Description = "stream.json"
  private val Depth = 4
  private val BufferBytes = 64 * 1024
}
