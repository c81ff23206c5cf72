package org.sparkkinesis.emulator.engine.stream

import scala.collection.mutable

/** Records in order of arrival, in fixed segments: append and trim at the ends, binary search between. Not thread-safe. */
final private[stream] class RecordSegments {
  import RecordSegments._

  private val segments = mutable.ArrayDeque.empty[Array[StoredRecord]]
  private var lastSize = SegmentSize

  /** Sequence positions from 0 (the oldest record still held). */
  def size: Int = if (segments.isEmpty) 0 else (segments.size - 1) * SegmentSize + lastSize

  def apply(i: Int): StoredRecord = segments(i / SegmentSize)(i % SegmentSize)

  def append(record: StoredRecord): Unit = {
    if (segments.isEmpty || lastSize == SegmentSize) {
      segments.append(new Array[StoredRecord](SegmentSize))
      lastSize = 0
    }
    segments.last(lastSize) = record
    lastSize += 1
  }

  /** Whether there is a segment to give up while keeping the newest one. */
  def canDropSegment: Boolean = segments.size > 1

  /** Position of the last record of the oldest segment. */
  def firstSegmentEnd: Int = math.min(SegmentSize, size) - 1

  def dropSegment(): Array[StoredRecord] = segments.removeHead()

  def firstAfter(seqIx: Long): Int = firstWhere(_.seqIx > seqIx)

  def firstAtOrAfterTime(millis: Long): Int = firstWhere(_.arrivalMillis >= millis)

  private def firstWhere(holds: StoredRecord => Boolean): Int = {
    var low = 0
    var high = size
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(apply(middle))) high = middle else low = middle + 1
    }
    low
  }
}

private[stream] object RecordSegments {
  val SegmentSize = 256
}
