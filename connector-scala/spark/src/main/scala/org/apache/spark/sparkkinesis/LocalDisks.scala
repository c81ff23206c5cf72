package org.apache.spark.sparkkinesis

import java.io.{ByteArrayInputStream, File, FileNotFoundException, FileOutputStream, IOException, RandomAccessFile}
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import org.apache.spark.SparkEnv

import org.sparkkinesis.consume.spill.{SpillFile, SpillFiles, SpillPlace}

/**
 * Files in the local directories of this JVM (`spark.local.dir`), which Spark deletes at the end of the application.
 * Only the user of this process can read them. They are encrypted if `spark.io.encryption.enabled` is set.
 */
object LocalDisks extends SpillFiles {
  private val stored = new AtomicLong
  private val ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))

  override def create(): SpillFile = {
    val file =
      try running.blockManager.diskBlockManager.createTempLocalBlock()._2
      catch { case NonFatal(failure) if !failure.isInstanceOf[IOException] => throw new IOException(failure) }
    try Files.createFile(file.toPath, ownerOnly)
    catch { case _: UnsupportedOperationException => Files.createFile(file.toPath) }
    new LocalFile(file)
  }

  /** Returns 0 outside of Spark, and if a local directory is in memory, where a file takes that of the container. */
  override def spareBytes: Long = Option(SparkEnv.get).fold(0L) { env =>
    env.blockManager.diskBlockManager.localDirs.map(usable).min - stored.get
  }

  private def usable(folder: File): Long =
    try {
      val store = Files.getFileStore(folder.toPath)
      if (InMemory(store.`type`)) 0 else store.getUsableSpace
    } catch { case _: IOException => 0 }

  private val InMemory = Set("tmpfs", "ramfs")

  /** Throws an `IOException` if Spark has stopped. */
  private def running: SparkEnv = Option(SparkEnv.get).getOrElse(throw new IOException("Spark has stopped"))

  final private class LocalFile(file: File) extends SpillFile {
    private val size = new AtomicLong

    override def append(block: Array[Byte]): SpillPlace = {
      // Writing would create it again, for every user to read.
      if (!file.exists()) throw new FileNotFoundException(s"$file was deleted")
      val position = file.length()
      // Not a channel: Java closes a channel when its thread is interrupted, as Spark does with tasks.
      try {
        val out = running.serializerManager.wrapForEncryption(new FileOutputStream(file, true))
        try out.write(block)
        finally out.close()
      } finally {
        size.addAndGet(file.length() - position)
        stored.addAndGet(file.length() - position)
      }
      SpillPlace(position, (file.length() - position).toInt)
    }

    override def read(place: SpillPlace): Array[Byte] = {
      val bytes = new Array[Byte](place.length)
      val in = new RandomAccessFile(file, "r")
      try {
        in.seek(place.position)
        in.readFully(bytes)
      } finally in.close()
      running.serializerManager.wrapForEncryption(new ByteArrayInputStream(bytes)).readAllBytes()
    }

    override def delete(): Unit = {
      file.delete()
      stored.addAndGet(-size.getAndSet(0))
      ()
    }
  }
}
