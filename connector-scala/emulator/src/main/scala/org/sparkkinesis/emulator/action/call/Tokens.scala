package org.sparkkinesis.emulator.action.call

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream, IOException}
import java.util.Base64
import java.util.zip.CRC32

/** The position of a shard iterator: after record `afterSeqIx` of a shard. It was issued at `issuedMillis`. */
final case class IteratorToken(
    stream: String,
    streamCreated: Long,
    shardIndex: Long,
    afterSeqIx: Long,
    issuedMillis: Long
) {
  def encode: String = Tokens.seal(Tokens.Iterator) { out =>
    out.writeUTF(stream)
    out.writeLong(streamCreated)
    out.writeLong(shardIndex)
    out.writeLong(afterSeqIx)
    out.writeLong(issuedMillis)
  }
}

/** The position at which a listing continues. The operation that issued the token defines the `fields`. */
final case class PageToken(operation: String, issuedMillis: Long, fields: Seq[String]) {
  def encode: String = Tokens.seal(Tokens.Page) { out =>
    out.writeUTF(operation)
    out.writeLong(issuedMillis)
    out.writeInt(fields.size)
    fields.foreach(out.writeUTF)
  }
}

/** Encodes and decodes opaque tokens: URL-safe text with a checksum, so that a damaged token is rejected. */
object Tokens {
  private[call] val Iterator = 1
  private[call] val Page = 2
  private val ChecksumBytes = 8
  private val MaxFields = 16

  def iterator(text: String): Option[IteratorToken] = open(text, Iterator) { in =>
    IteratorToken(in.readUTF(), in.readLong(), in.readLong(), in.readLong(), in.readLong())
  }

  def page(text: String): Option[PageToken] = open(text, Page) { in =>
    val operation = in.readUTF()
    val issued = in.readLong()
    PageToken(operation, issued, Seq.fill(math.min(in.readInt(), MaxFields))(in.readUTF()))
  }

  private[call] def seal(kind: Int)(write: DataOutputStream => Unit): String = {
    val bytes = new ByteArrayOutputStream(96)
    val out = new DataOutputStream(bytes)
    out.writeByte(kind)
    write(out)
    out.writeLong(checksum(bytes.toByteArray, bytes.size))
    Base64.getUrlEncoder.withoutPadding.encodeToString(bytes.toByteArray)
  }

  private def open[A](text: String, kind: Int)(read: DataInputStream => A): Option[A] =
    try {
      val bytes = Base64.getUrlDecoder.decode(text)
      val body = bytes.length - ChecksumBytes
      val sum = new DataInputStream(new ByteArrayInputStream(bytes, math.max(body, 0), ChecksumBytes))
      if (body <= 0 || bytes(0) != kind || sum.readLong() != checksum(bytes, body)) None
      else Some(read(new DataInputStream(new ByteArrayInputStream(bytes, 1, body - 1))))
    } catch { case _: IllegalArgumentException | _: IOException => None }

  private def checksum(bytes: Array[Byte], length: Int): Long = {
    val crc = new CRC32
    crc.update(bytes, 0, length)
    crc.getValue
  }
}
