package org.sparkkinesis.emulator.engine.shard

import scala.collection.mutable

/**
 * Records in order of arrival, in segments of fixed size. Supports append and removal at the ends, and binary search.
 * Not thread-safe.
 */
final private[shard] class RecordSegments {
  import RecordSegments._

  private val segments = mutable.ArrayDeque.empty[Array[StoredRecord]]
  private var lastSize = SegmentSize
  private var dropped = 0 // number of removed records at the front of the first segment

  /** The number of records; position 0 is the oldest record. */
  def size: Int = if (segments.isEmpty) 0 else (segments.size - 1) * SegmentSize + lastSize - dropped

  def apply(i: Int): StoredRecord = {
    val at = i + dropped
    segments(at / SegmentSize)(at % SegmentSize)
  }

  def append(record: StoredRecord): Unit = {
    if (segments.isEmpty || lastSize == SegmentSize) {
      segments.append(new Array[StoredRecord](SegmentSize))
      lastSize = 0
    }
    segments.last(lastSize) = record
    lastSize += 1
  }

  /** Removes and returns the oldest record, which must exist. */
  def dropFirst(): StoredRecord = {
    val record = apply(0)
    segments.head(dropped) = null
    dropped += 1
    if (dropped == SegmentSize || size == 0) {
      segments.removeHead()
      dropped = 0
    }
    record
  }

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

private[shard] object RecordSegments {
  val SegmentSize = 256
}
