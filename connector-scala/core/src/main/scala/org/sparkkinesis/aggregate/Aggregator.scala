package org.sparkkinesis.aggregate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.collection.mutable

/**
 * Builds one KPL container: magic, a protobuf message with tables of the distinct keys and the records, and its MD5.
 *
 * It grows until `maxBytes`, the container's whole length. Records keep their order. Not thread-safe.
 */
final class Aggregator(maxBytes: Int = Aggregator.DefaultMaxBytes) {
  import Aggregator._

  private val partitionKeys = new KeyTable
  private val hashKeys = new KeyTable
  private val records = mutable.ArrayBuffer.empty[Packed]
  private var bytes = Overhead

  def count: Int = records.size

  /** Length of the container as it stands. */
  def size: Int = bytes

  /** Adds the record, unless the container would grow beyond its limit; the first one is always taken. */
  def tryAdd(partitionKey: String, explicitHashKey: Option[String], data: Array[Byte]): Boolean = {
    val key = partitionKeys.indexOf(partitionKey)
    val hash = explicitHashKey.fold(NoIndex)(hashKeys.indexOf)
    val record = new Packed(key, hash, data)
    val growth = partitionKeys.growth(partitionKey, key) + explicitHashKey.fold(0)(hashKeys.growth(_, hash)) +
      fieldLength(record.length)
    val fits = records.isEmpty || bytes.toLong + growth <= maxBytes
    if (fits) {
      partitionKeys.add(partitionKey, key)
      explicitHashKey.foreach(hashKeys.add(_, hash))
      records += record
      bytes += growth
    }
    fits
  }

  /** The container's bytes. */
  def result(): Array[Byte] = {
    val out = new Output(bytes)
    out.bytes(Magic)
    partitionKeys.encoded.foreach(key => out.field(PartitionKeyTable, key))
    hashKeys.encoded.foreach(key => out.field(HashKeyTable, key))
    records.foreach { record =>
      out.tag(Records, Wire.Bytes)
      out.varint(record.length)
      record.writeTo(out)
    }
    val digest = MessageDigest.getInstance("MD5")
    digest.update(out.array, Magic.length, out.position - Magic.length)
    out.bytes(digest.digest())
    out.array
  }
}

object Aggregator {

  /** What the KPL calls AggregationMaxSize: two PUT payload units of 25 KB. */
  val DefaultMaxBytes: Int = 51200

  /** The partition key of a container; its place is told by the explicit hash key. */
  val OuterPartitionKey: String = "a"

  private val Magic: Array[Byte] = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)
  private val DigestLength = 16
  private val Overhead = Magic.length + DigestLength
  private val NoIndex = -1
  // Field numbers of AggregatedRecord, then of its Record.
  private val PartitionKeyTable = 1
  private val HashKeyTable = 2
  private val Records = 3
  private val KeyIndex = 1
  private val HashKeyIndex = 2
  private val Data = 3

  private def varintLength(value: Int): Int = math.max(1, (38 - Integer.numberOfLeadingZeros(value)) / 7)
  private def fieldLength(length: Int): Int = 1 + varintLength(length) + length

  /** Distinct keys in the order of their first use. */
  final private class KeyTable {
    private val indexes = mutable.HashMap.empty[String, Int]
    val encoded = mutable.ArrayBuffer.empty[Array[Byte]]

    /** Its place in the table, or the place that it would get. */
    def indexOf(key: String): Int = indexes.getOrElse(key, encoded.size)

    def growth(key: String, index: Int): Int =
      if (index < encoded.size) 0 else fieldLength(org.sparkkinesis.service.Utf8.length(key))

    def add(key: String, index: Int): Unit = if (index == encoded.size) {
      indexes.update(key, index)
      encoded += key.getBytes(UTF_8)
    }
  }

  final private class Packed(key: Int, hash: Int, data: Array[Byte]) {
    val length: Int =
      1 + varintLength(key) + (if (hash == NoIndex) 0 else 1 + varintLength(hash)) + fieldLength(data.length)

    def writeTo(out: Output): Unit = {
      out.tag(KeyIndex, Wire.Varint)
      out.varint(key)
      if (hash != NoIndex) {
        out.tag(HashKeyIndex, Wire.Varint)
        out.varint(hash)
      }
      out.field(Data, data)
    }
  }

  final private class Output(size: Int) {
    val array = new Array[Byte](size)
    var position = 0

    def bytes(value: Array[Byte]): Unit = {
      System.arraycopy(value, 0, array, position, value.length)
      position += value.length
    }

    def tag(field: Int, wireType: Int): Unit = varint(field << 3 | wireType)

    def varint(value: Int): Unit = {
      var rest = value
      while (rest > 0x7f) {
        array(position) = (rest & 0x7f | 0x80).toByte
        position += 1
        rest >>>= 7
      }
      array(position) = rest.toByte
      position += 1
    }

    def field(number: Int, value: Array[Byte]): Unit = {
      tag(number, Wire.Bytes)
      varint(value.length)
      bytes(value)
    }
  }
}
