package org.sparkkinesis.aws.putrecords

import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

import scala.annotation.nowarn

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.PutEntry

/**
 * Writes the content of a PutRecords request as CBOR (RFC 8949), in one pass and into one array. The SDK's marshaller
 * describes each member of each record by an object, and copies the content several times.
 */
final private[aws] class PutBody private (bytes: Array[Byte]) {
  import PutBody._

  private var at = 0

  /** Number of bytes of the content. */
  def length: Int = at

  /** The array that contains the content at its beginning. */
  def array: Array[Byte] = bytes

  private def head(major: Int, value: Int): Unit = {
    val kind = major << 5
    if (value < 24) put(kind | value)
    else if (value < 0x100) {
      put(kind | 24)
      put(value)
    } else if (value < 0x10000) {
      put(kind | 25)
      put(value >>> 8)
      put(value)
    } else {
      put(kind | 26)
      put(value >>> 24)
      put(value >>> 16)
      put(value >>> 8)
      put(value)
    }
  }

  private def put(byte: Int): Unit = {
    bytes(at) = byte.toByte
    at += 1
  }

  private def copy(from: Array[Byte]): Unit = {
    System.arraycopy(from, 0, bytes, at, from.length)
    at += from.length
  }

  private def text(value: String, utf8Length: Int): Unit = {
    head(TextType, utf8Length)
    if (utf8Length == value.length) {
      ascii(value)
      at += utf8Length
    } else copy(value.getBytes(UTF_8))
  }

  // The only method that copies the characters of a string into an existing array.
  @nowarn("cat=deprecation")
  private def ascii(value: String): Unit = value.getBytes(0, value.length, bytes, at)

  private def record(entry: PutEntry): Unit = {
    head(MapType, if (entry.explicitHashKey.isEmpty) 2 else 3)
    copy(Data)
    head(BytesType, entry.data.length)
    copy(entry.data)
    copy(PartitionKey)
    text(entry.partitionKey, entry.size - entry.data.length)
    if (entry.explicitHashKey.isDefined) {
      copy(ExplicitHashKey)
      text(entry.explicitHashKey.get, entry.explicitHashKey.get.length)
    }
  }
}

private[aws] object PutBody {
  val ContentType: String = "application/x-amz-cbor-1.1"

  private val BytesType = 2
  private val TextType = 3
  private val ArrayType = 4
  private val MapType = 5

  /** Encodes a short name with its head. */
  private def name(text: String): Array[Byte] = (TextType << 5 | text.length).toByte +: text.getBytes(US_ASCII)

  private val Data = name("Data")
  private val PartitionKey = name("PartitionKey")
  private val ExplicitHashKey = name("ExplicitHashKey")
  private val Records = name("Records")
  private val StreamName = name("StreamName")
  private val StreamArn = name("StreamARN")
  private val LongestHead = 5

  /** Maximum number of bytes that a record needs beside payload and partition key. */
  private def overhead(entry: PutEntry): Int = 3 * LongestHead + Data.length + PartitionKey.length +
    entry.explicitHashKey.fold(0)(key => ExplicitHashKey.length + LongestHead + key.length)

  def of(stream: StreamRef, entries: IndexedSeq[PutEntry]): PutBody = {
    val target = stream.arn.getOrElse(stream.name)
    var most = 0
    var i = 0
    while (i < entries.size) {
      most += entries(i).size + overhead(entries(i))
      i += 1
    }
    val body = new PutBody(new Array[Byte](most + 3 * LongestHead + Records.length + StreamName.length + target.length))
    body.head(MapType, 2)
    body.copy(if (stream.arn.isEmpty) StreamName else StreamArn)
    body.text(target, target.length)
    body.copy(Records)
    body.head(ArrayType, entries.size)
    i = 0
    while (i < entries.size) {
      body.record(entries(i))
      i += 1
    }
    body
  }
}
