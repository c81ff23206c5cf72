package org.apache.spark.sparkkinesis

import java.io.{ByteArrayInputStream, File, FileOutputStream, RandomAccessFile}

import org.apache.spark.SparkEnv

import org.sparkkinesis.consume.spill.{SpillFile, SpillFiles, SpillPlace}

/**
 * Files in the local directories of this JVM (`spark.local.dir`), which Spark deletes at the end of the application.
 * They are encrypted if `spark.io.encryption.enabled` is set.
 */
object LocalDisks extends SpillFiles {
  override def create(): SpillFile =
    new LocalFile(SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()._2)

  /** Returns 0 outside of Spark. */
  override def freeBytes: Long =
    Option(SparkEnv.get).fold(0L)(_.blockManager.diskBlockManager.localDirs.map(_.getUsableSpace).sum)

  final private class LocalFile(file: File) extends SpillFile {
    override def append(block: Array[Byte]): SpillPlace = {
      val position = file.length()
      // Not a channel: Java closes a channel when its thread is interrupted, as Spark does with tasks.
      val out = SparkEnv.get.serializerManager.wrapForEncryption(new FileOutputStream(file, true))
      try out.write(block)
      finally out.close()
      SpillPlace(position, (file.length() - position).toInt)
    }

    override def read(place: SpillPlace): Array[Byte] = {
      val stored = new Array[Byte](place.length)
      val in = new RandomAccessFile(file, "r")
      try {
        in.seek(place.position)
        in.readFully(stored)
      } finally in.close()
      SparkEnv.get.serializerManager.wrapForEncryption(new ByteArrayInputStream(stored)).readAllBytes()
    }

    override def delete(): Unit = {
      file.delete()
      ()
    }
  }
}
