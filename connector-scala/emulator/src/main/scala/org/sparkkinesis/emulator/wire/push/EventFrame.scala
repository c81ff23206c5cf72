package org.sparkkinesis.emulator.wire.push

import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32

import io.netty.buffer.{ByteBuf, ByteBufAllocator, ByteBufOutputStream}

import org.sparkkinesis.emulator.document.{Encoding, ReplyWriter}

/**
 * Encodes frames of `application/vnd.amazon.eventstream`: lengths, checksum of the lengths, headers, payload,
 * checksum of the frame.
 */
object EventFrame {
  private val PreludeBytes = 12
  private val ChecksumBytes = 4
  private val StringHeader = 7
  private val MinCapacity = 512

  val InitialResponse: Seq[(String, String)] =
    Seq(":message-type" -> "event", ":event-type" -> "initial-response", ":content-type" -> "application/json")
  val SubscribeToShardEvent: Seq[(String, String)] =
    Seq(":event-type" -> "SubscribeToShardEvent", ":content-type" -> "application/json", ":message-type" -> "event")

  def exception(errorType: String): Seq[(String, String)] =
    Seq(":exception-type" -> errorType, ":content-type" -> "application/json", ":message-type" -> "exception")

  /**
   * Encodes one frame with a JSON payload in a buffer that the caller owns.
   *
   * @param sizeHint
   *   the approximate size of the payload in bytes
   */
  def encode(
      allocator: ByteBufAllocator,
      headers: Seq[(String, String)],
      sizeHint: Int
  )(payload: ReplyWriter => Unit): ByteBuf = {
    val frame = allocator.buffer(math.max(MinCapacity, sizeHint))
    var written = false
    try {
      frame.writeZero(PreludeBytes)
      headers.foreach { case (name, value) => writeHeader(frame, name, value) }
      val headerBytes = frame.writerIndex() - PreludeBytes
      Encoding.Json.write(new ByteBufOutputStream(frame))(payload)
      frame.setInt(0, frame.writerIndex() + ChecksumBytes)
      frame.setInt(4, headerBytes)
      frame.setInt(8, checksum(frame, 8))
      frame.writeInt(checksum(frame, frame.writerIndex()))
      written = true
      frame
    } finally if (!written) frame.release()
  }

  private def writeHeader(frame: ByteBuf, name: String, value: String): Unit = {
    val nameBytes = name.getBytes(UTF_8)
    val valueBytes = value.getBytes(UTF_8)
    frame.writeByte(nameBytes.length).writeBytes(nameBytes)
    frame.writeByte(StringHeader).writeShort(valueBytes.length).writeBytes(valueBytes)
    ()
  }

  private def checksum(frame: ByteBuf, length: Int): Int = {
    val crc = new CRC32
    crc.update(frame.nioBuffer(0, length))
    crc.getValue.toInt
  }
}
