package org.sparkkinesis.aggregate

import java.security.MessageDigest

/**
 * Recognizes and decodes KPL aggregates: magic bytes, a protobuf message, and its MD5 digest.
 *
 * The KPL's `aggregation-format.md` describes the format. Data that is not a complete and valid aggregate is a plain
 * record: `open` then returns null and does not fail. An aggregate with keys and without user records is valid and has
 * no row, as in the KCL. An index into an empty table of explicit hash keys is ignored, because some libraries write
 * it. Thread-safe.
 */
object Deaggregator {
  private val Magic: Array[Byte] = Array(0xf3, 0x89, 0x9a, 0xc2).map(_.toByte)
  private val DigestLength = 16

  /** Returns true if `data` begins like an aggregate. The check is cheap; other payloads pass it only by chance. */
  def looksAggregated(data: Array[Byte]): Boolean =
    data.length > Magic.length + DigestLength && data(0) == Magic(0) && data(1) == Magic(1) && data(2) == Magic(2) &&
      data(3) == Magic(3)

  /** Returns the user records of the aggregate, or null if `data` is a plain record. */
  def open(data: Array[Byte]): AggregatedRecord =
    if (!looksAggregated(data)) null
    else {
      val end = data.length - DigestLength
      val digest = MessageDigest.getInstance("MD5")
      digest.update(data, Magic.length, end - Magic.length)
      if (!MessageDigest.isEqual(digest.digest(), java.util.Arrays.copyOfRange(data, end, data.length))) null
      else new AggregateReader(data, Magic.length, end).read()
    }
}

/** Reads the protobuf message `AggregatedRecord` in a range of an array. It reads each byte at most twice. */
final private class AggregateReader(data: Array[Byte], from: Int, end: Int) {
  private val keys = new Slices
  private val hashKeys = new Slices
  private val records = new ParsedRecords

  private val varint = new Varint(data)

  // The current record. These are fields, so that a record needs no object; an aggregate can have a million records.
  private var keyIndex = -1L
  private var hashKeyIndex = -1L
  private var dataStart = -1
  private var dataLength = 0

  private val containerFields: FieldVisitor = (field, wireType, start, length, _) =>
    if (field > 3) true
    else if (wireType != Wire.Bytes) false
    else
      field match {
        case 1 => keys.add(start, length); true
        case 2 => hashKeys.add(start, length); true
        case 3 => readRecord(start, start + length)
      }

  private val recordFields: FieldVisitor = (field, wireType, start, length, value) =>
    field match {
      case 1 => keyIndex = value; wireType == Wire.Varint && isIndex(value)
      case 2 => hashKeyIndex = value; wireType == Wire.Varint && isIndex(value)
      case 3 => dataStart = start; dataLength = length; wireType == Wire.Bytes
      case _ => true
    }

  def read(): AggregatedRecord = {
    val isValid = forEachField(from, end, containerFields) && keys.count > 0 && indexesExist
    if (isValid) new AggregatedRecord(data, keys, hashKeys, records) else null
  }

  private def readRecord(start: Int, end: Int): Boolean = {
    keyIndex = -1
    hashKeyIndex = -1
    dataStart = -1
    val complete = forEachField(start, end, recordFields) && keyIndex >= 0 && dataStart >= 0
    if (complete) records.add(keyIndex.toInt, hashKeyIndex.toInt, dataStart, dataLength)
    complete
  }

  /** A table cannot have more entries than the aggregate has bytes. */
  private def isIndex(value: Long): Boolean = value >= 0 && value < data.length

  private def indexesExist: Boolean = {
    var i = 0
    while (
      i < records.count && records.keyIndex(i) < keys.count &&
      (hashKeys.count == 0 || records.hashKeyIndex(i) < hashKeys.count)
    ) i += 1
    i == records.count
  }

  /**
   * Calls `field` with number, wire type, start, length and varint value of each field. Returns false if a field is
   * malformed or `field` rejects it.
   */
  private def forEachField(from: Int, end: Int, field: FieldVisitor): Boolean = {
    var position = from
    var isValid = true
    while (isValid && position < end) {
      position = varint.read(position, end)
      val number = (varint.value >>> 3)
      val wireType = (varint.value & 7).toInt
      if (position < 0 || number == 0 || number > 0x1fffffff) isValid = false
      else {
        var start = position
        wireType match {
          case Wire.Varint =>
            position = varint.read(position, end)
          case Wire.Bytes =>
            start = varint.read(position, end)
            position =
              if (start < 0 || varint.value < 0 || varint.value > end - start) -1 else start + varint.value.toInt
          case Wire.Fixed64 => position = if (end - position < 8) -1 else position + 8
          case Wire.Fixed32 => position = if (end - position < 4) -1 else position + 4
          case _ => position = -1
        }
        isValid = position >= 0 && field.visit(number.toInt, wireType, start, position - start, varint.value)
      }
    }
    isValid
  }
}

private object Wire {
  final val Varint = 0
  final val Fixed64 = 1
  final val Bytes = 2
  final val Fixed32 = 5
}

private trait FieldVisitor {
  def visit(field: Int, wireType: Int, start: Int, length: Int, value: Long): Boolean
}

/** Reads base-128 numbers of at most ten bytes. */
final private class Varint(data: Array[Byte]) {
  var value: Long = 0L

  /** Returns the position after the number, or -1 if the number is truncated or too long. */
  def read(from: Int, end: Int): Int = {
    var position = from
    var shift = 0
    var result = 0L
    var more = true
    while (more && position < end && shift < 70) {
      val byte = data(position)
      result |= (byte & 0x7fL) << shift
      shift += 7
      position += 1
      more = byte < 0
    }
    value = result
    if (more) -1 else position
  }
}
