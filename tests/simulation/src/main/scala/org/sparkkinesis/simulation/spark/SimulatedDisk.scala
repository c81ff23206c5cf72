package org.sparkkinesis.simulation.spark

import java.io.IOException

import scala.collection.mutable
import scala.util.Random

import org.sparkkinesis.consume.spill.{SpillFile, SpillFiles, SpillPlace}

/** The local files of one process. Some operations fail: the disk is full for a moment, or a file was deleted. */
final private class SimulatedDisk(random: Random) extends SpillFiles {

  /** Others use the disk too, so that sometimes nothing is left. */
  override def spareBytes: Long = if (fails()) 0 else 1L << 30

  override def create(): SpillFile = new SpillFile {
    private val blocks = mutable.ArrayBuffer.empty[Array[Byte]]
    private var isDeleted = false

    override def append(block: Array[Byte]): SpillPlace = {
      if (fails()) throw new IOException("No space left on device")
      blocks += block
      SpillPlace(blocks.size.toLong - 1, block.length)
    }

    override def read(place: SpillPlace): Array[Byte] = {
      isDeleted ||= fails()
      if (isDeleted) throw new IOException("the file was deleted")
      blocks(place.position.toInt)
    }

    override def delete(): Unit = isDeleted = true
  }

  private def fails(): Boolean = random.nextInt(SimulatedDisk.OnceIn) == 0
}

private object SimulatedDisk {

  /** One of so many operations fails. */
  val OnceIn = 50
}
