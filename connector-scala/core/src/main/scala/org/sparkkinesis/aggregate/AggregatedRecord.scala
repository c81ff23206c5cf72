package org.sparkkinesis.aggregate

import java.nio.charset.StandardCharsets.UTF_8

/**
 * The user records of one KPL aggregate, stored as ranges of its bytes and accessed by index. There may be none.
 *
 * It needs 16 bytes of memory per user record in addition to the bytes of the aggregate.
 */
final class AggregatedRecord private[aggregate] (
    val container: Array[Byte],
    keyTable: Slices,
    hashKeyTable: Slices,
    records: ParsedRecords
) {

  /** Number of user records. */
  def count: Int = records.count

  def keyCount: Int = keyTable.count

  /** Index of the partition key of a user record in the key table. */
  def keyIndex(record: Int): Int = records.keyIndex(record)
  def keyStart(key: Int): Int = keyTable.start(key)
  def keyLength(key: Int): Int = keyTable.length(key)
  def partitionKey(record: Int): String = text(keyTable, keyIndex(record))
  def hasExplicitHashKey(record: Int): Boolean = hashKeyTable.count > 0 && records.hashKeyIndex(record) >= 0

  /** Returns null if the user record has no explicit hash key. */
  def explicitHashKey(record: Int): String =
    if (hasExplicitHashKey(record)) text(hashKeyTable, records.hashKeyIndex(record)) else null

  /** Returns a copy, so that one small record does not keep a large aggregate in memory. */
  def data(record: Int): Array[Byte] = {
    val start = records.dataStart(record)
    java.util.Arrays.copyOfRange(container, start, start + records.dataLength(record))
  }

  private def text(table: Slices, index: Int): String =
    new String(container, table.start(index), table.length(index), UTF_8)
}

/** A growing list of ranges. */
final private[aggregate] class Slices {
  private var starts = new Array[Int](8)
  private var lengths = new Array[Int](8)
  private var used = 0

  def count: Int = used
  def start(i: Int): Int = starts(i)
  def length(i: Int): Int = lengths(i)

  def add(start: Int, length: Int): Unit = {
    if (used == starts.length) {
      starts = java.util.Arrays.copyOf(starts, used * 2)
      lengths = java.util.Arrays.copyOf(lengths, used * 2)
    }
    starts(used) = start
    lengths(used) = length
    used += 1
  }
}

/** A growing list with four numbers per user record. */
final private[aggregate] class ParsedRecords {
  private val data = new Slices
  private val keys = new Slices

  def count: Int = data.count
  def dataStart(i: Int): Int = data.start(i)
  def dataLength(i: Int): Int = data.length(i)
  def keyIndex(i: Int): Int = keys.start(i)

  /** Returns -1 if the user record has no explicit hash key. */
  def hashKeyIndex(i: Int): Int = keys.length(i)

  def add(keyIndex: Int, hashKeyIndex: Int, dataStart: Int, dataLength: Int): Unit = {
    data.add(dataStart, dataLength)
    keys.add(keyIndex, hashKeyIndex)
  }
}
