package org.sparkkinesis.consume.spill

import java.io.{FileNotFoundException, IOException}

import scala.collection.mutable

/** Files for a test, in memory. Thread-safe. */
final class MemoryFiles extends SpillFiles {

  /** Size of the disk; half of it may be used. */
  @volatile var diskBytes: Long = 1L << 40

  /** Whether writing fails, as on a full disk. */
  @volatile var isFull = false

  /** Whether blocks are changed before they are read. */
  @volatile var isDamaged = false

  /** Bytes that were appended. */
  @volatile var written = 0L
  private val present = mutable.HashSet.empty[MemoryFile]

  def count: Int = synchronized(present.size)

  override def spareBytes: Long = synchronized(diskBytes - 2 * present.iterator.map(_.bytes).sum)

  /** Deletes every file, as a cleaner of temporary files does. */
  def wipe(): Unit = synchronized(present.clear())

  override def create(): SpillFile = synchronized {
    val file = new MemoryFile
    present += file
    file
  }

  final private class MemoryFile extends SpillFile {
    private val blocks = mutable.ArrayBuffer.empty[Array[Byte]]
    def bytes: Long = blocks.iterator.map(_.length.toLong).sum

    override def append(block: Array[Byte]): SpillPlace = MemoryFiles.this.synchronized {
      if (isFull) throw new IOException("No space left on device")
      blocks += block.clone()
      written += block.length
      SpillPlace(blocks.size.toLong - 1, block.length)
    }

    override def read(place: SpillPlace): Array[Byte] = MemoryFiles.this.synchronized {
      if (!present(this)) throw new FileNotFoundException("deleted")
      val block = blocks(place.position.toInt).clone()
      if (isDamaged) block(block.length / 2) = (block(block.length / 2) ^ 1).toByte
      block
    }

    override def delete(): Unit = MemoryFiles.this.synchronized {
      present -= this
      ()
    }
  }
}
