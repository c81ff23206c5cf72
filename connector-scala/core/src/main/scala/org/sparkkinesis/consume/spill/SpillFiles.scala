package org.sparkkinesis.consume.spill

/** Creates local files for fetched records. Thread-safe. */
trait SpillFiles {

  /** Creates an empty file. Throws an `IOException` if that is impossible. */
  def create(): SpillFile

  /**
   * Returns how many more bytes the files of all reads in this process may take. At least as much as they have stays
   * free for others, such as Spark's shuffles.
   */
  def spareBytes: Long
}

/** A local file, to which blocks are appended. One thread appends at a time; any thread may read. */
trait SpillFile {

  /** Appends a block. Throws an `IOException` if it was not written. */
  def append(block: Array[Byte]): SpillPlace

  /** Returns a block. Throws an `IOException` if it cannot be read, also because the file was deleted. */
  def read(place: SpillPlace): Array[Byte]

  /** Deletes the file, if it can be deleted. */
  def delete(): Unit
}

/** Where a block is in its file, and how many bytes it has there: more than were appended if it is encrypted. */
final case class SpillPlace(position: Long, length: Int)
