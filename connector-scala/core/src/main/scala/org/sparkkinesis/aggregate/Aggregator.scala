package org.sparkkinesis.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

/**
 * Builds one KPL aggregate: magic bytes, a protobuf message with the tables of distinct keys and the records, and its
 * MD5 digest.
 *
 * The length of the aggregate is at most `maxBytes`. Records keep their order. Each record is encoded when it is added,
 * so that it costs little more than a copy of its bytes. Not thread-safe.
 */
final class Aggregator(maxBytes: Int = Aggregator.DefaultMaxBytes) {
  import Aggregator._

  private val partitionKeys = new KeyTable(PartitionKeyTable)
  private val hashKeys = new KeyTable(HashKeyTable)
  private val records = new Encoded(math.min(maxBytes, FirstCapacity))
  private var added = 0

  def count: Int = added

  /** Length in bytes of the aggregate with the records so far. */
  def size: Int = Overhead + partitionKeys.encoded.length + hashKeys.encoded.length + records.length

  /**
   * Adds a record and returns true, or returns false if the aggregate would exceed its limit. The first record is
   * always added.
   */
  def tryAdd(partitionKey: String, explicitHashKey: Option[String], data: Array[Byte]): Boolean = {
    val key = partitionKeys.find(partitionKey)
    val hash = if (explicitHashKey.isEmpty) NoIndex else hashKeys.find(explicitHashKey.get)
    val length = 1 + varintLength(key) + (if (hash == NoIndex) 0 else 1 + varintLength(hash)) + fieldLength(data.length)
    val growth = partitionKeys.growth + (if (hash == NoIndex) 0 else hashKeys.growth) + fieldLength(length)
    val fits = added == 0 || size.toLong + growth <= maxBytes
    if (fits) {
      partitionKeys.keep()
      if (hash != NoIndex) hashKeys.keep()
      records.tag(Records, Wire.Bytes)
      records.varint(length)
      records.tag(KeyIndex, Wire.Varint)
      records.varint(key)
      if (hash != NoIndex) {
        records.tag(HashKeyIndex, Wire.Varint)
        records.varint(hash)
      }
      records.field(Data, data)
      added += 1
    }
    fits
  }

  /** Removes all records and keeps the memory for the next aggregate. */
  def clear(): Unit = {
    partitionKeys.clear()
    hashKeys.clear()
    records.length = 0
    added = 0
  }

  /** Returns the bytes of the aggregate. */
  def result(): Array[Byte] = {
    val out = new Encoded(size)
    out.bytes(Magic, Magic.length)
    out.bytes(partitionKeys.encoded)
    out.bytes(hashKeys.encoded)
    out.bytes(records)
    val digest = MessageDigest.getInstance("MD5")
    digest.update(out.array, Magic.length, out.length - Magic.length)
    out.bytes(digest.digest(), DigestLength)
    out.array
  }
}

object Aggregator {

  /** The default of the KPL's `AggregationMaxSize`: two PUT payload units of 25 KB. */
  val DefaultMaxBytes: Int = 51200

  /** Partition key of the aggregate. Its explicit hash key selects the shard. */
  val OuterPartitionKey: String = "a"

  private val Magic: Array[Byte] = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)
  private val DigestLength = 16
  private val Overhead = Magic.length + DigestLength
  private val FirstCapacity = 8192
  private val NoIndex = -1
  // Field numbers of the protobuf messages `AggregatedRecord` and `Record`.
  private val PartitionKeyTable = 1
  private val HashKeyTable = 2
  private val Records = 3
  private val KeyIndex = 1
  private val HashKeyIndex = 2
  private val Data = 3

  private def varintLength(value: Int): Int = math.max(1, (38 - Integer.numberOfLeadingZeros(value)) / 7)
  private def fieldLength(length: Int): Int = 1 + varintLength(length) + length

  /**
   * The distinct keys in the order of their first use. `find` looks up a key, `growth` is the size that this key would
   * add, and `keep` adds it to the table. The hash table uses open addressing, so that a key needs no object of its
   * own.
   */
  final private class KeyTable(field: Int) {
    val encoded = new Encoded(1024)
    private var keys = new Array[String](128)
    private var numbers = new Array[Int](128)
    private var used = 0

    private var slot = 0
    private var fresh: Array[Byte] = null
    private var sought: String = ""

    /** Number of bytes that the key of the last `find` would add to the table. */
    def growth: Int = if (fresh == null) 0 else fieldLength(fresh.length)

    /** Returns the index of `key` in the table, or the index that it would get. */
    def find(key: String): Int = {
      sought = key
      slot = slotOf(key)
      fresh = if (keys(slot) == null) key.getBytes(UTF_8) else null
      if (fresh == null) numbers(slot) else used
    }

    def keep(): Unit = if (fresh != null) {
      keys(slot) = sought
      numbers(slot) = used
      used += 1
      encoded.field(field, fresh)
      fresh = null
      if (used * 2 > keys.length) grow()
    }

    def clear(): Unit = {
      java.util.Arrays.fill(keys.asInstanceOf[Array[AnyRef]], null)
      encoded.length = 0
      used = 0
      fresh = null
    }

    private def slotOf(key: String): Int = {
      val hash = key.hashCode
      var at = (hash ^ hash >>> 16) & (keys.length - 1)
      while (keys(at) != null && keys(at) != key) at = (at + 1) & (keys.length - 1)
      at
    }

    private def grow(): Unit = {
      val (oldKeys, oldNumbers) = (keys, numbers)
      keys = new Array[String](oldKeys.length * 2)
      numbers = new Array[Int](oldKeys.length * 2)
      var i = 0
      while (i < oldKeys.length) {
        if (oldKeys(i) != null) {
          val at = slotOf(oldKeys(i))
          keys(at) = oldKeys(i)
          numbers(at) = oldNumbers(i)
        }
        i += 1
      }
    }
  }

  /** A growing protobuf message. */
  final private class Encoded(capacity: Int) {
    var array = new Array[Byte](capacity)
    var length = 0

    def bytes(value: Array[Byte], count: Int): Unit = {
      ensure(count)
      System.arraycopy(value, 0, array, length, count)
      length += count
    }

    def bytes(other: Encoded): Unit = bytes(other.array, other.length)

    def tag(field: Int, wireType: Int): Unit = varint(field << 3 | wireType)

    def varint(value: Int): Unit = {
      ensure(5)
      var rest = value
      while (rest > 0x7f) {
        array(length) = (rest & 0x7f | 0x80).toByte
        length += 1
        rest >>>= 7
      }
      array(length) = rest.toByte
      length += 1
    }

    def field(number: Int, value: Array[Byte]): Unit = {
      tag(number, Wire.Bytes)
      varint(value.length)
      bytes(value, value.length)
    }

    private def ensure(more: Int): Unit =
      if (array.length - length < more)
        array =
          java.util.Arrays.copyOf(array, math.max(length + more, math.min(array.length.toLong * 2, MaxArray).toInt))
  }

  /** The largest array that every JVM can allocate. */
  private val MaxArray = Int.MaxValue - 8L
}
