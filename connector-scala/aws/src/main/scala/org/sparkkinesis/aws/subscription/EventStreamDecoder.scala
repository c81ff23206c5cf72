package org.sparkkinesis.aws.subscription

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32

import io.netty.buffer.ByteBuf

/**
 * One message of an event stream: its text headers, and the range of its payload in `bytes`, which the caller must not
 * keep.
 */
final private[aws] class EventStreamMessage(
    val headers: Map[String, String],
    val bytes: Array[Byte],
    val payloadStart: Int,
    val payloadLength: Int
)

/**
 * Splits bytes into messages of the AWS event stream encoding: lengths, headers, payload and two checksums.
 *
 * Its buffer is as large as the incomplete message, and it holds no buffer between messages. The SDK's decoder
 * allocates 2 MiB for each subscription, which is too much for thousands of idle subscriptions. Used by one thread at a
 * time.
 *
 * @param buffers
 *   provides the buffers; the caller must read a message before it feeds more bytes
 */
final private[aws] class EventStreamDecoder(buffers: MessageBuffers) {
  import EventStreamDecoder._

  private var buffer = Empty
  private var start = 0
  private var end = 0
  private val checksum = new CRC32

  /** Reads all remaining bytes of `bytes`. */
  def feed(bytes: ByteBuf): Unit = {
    val count = bytes.readableBytes
    val held = end - start
    if (buffer.length - end < count) {
      val size = math.max(held + count, if (held >= 4) math.min(intAt(start), MaxMessageBytes) else 0)
      val larger = if (buffer.length < size) buffers.take(size) else buffer
      System.arraycopy(buffer, start, larger, 0, held)
      if (larger ne buffer) buffers.give(buffer)
      buffer = larger
      start = 0
      end = held
    }
    bytes.readBytes(buffer, end, count)
    end += count
  }

  /** Whether all bytes have been returned in messages. */
  def isEmpty: Boolean = start == end

  /**
   * Returns the next complete message, or null if more bytes are needed.
   *
   * @throws IOException
   *   if the bytes are not a valid event stream
   */
  def next(): EventStreamMessage = {
    val available = end - start
    if (available < PreludeBytes) release()
    else {
      val total = intAt(start)
      val headersLength = intAt(start + 4)
      if (
        total < PreludeBytes + ChecksumBytes || total > MaxMessageBytes || headersLength < 0 ||
        headersLength > total - PreludeBytes - ChecksumBytes
      )
        throw new IOException(
          s"An event stream message cannot have $total bytes with $headersLength bytes of headers"
        )
      verify(start, PreludeBytes - ChecksumBytes)
      if (available < total) null else take(total, headersLength)
    }
  }

  private def take(total: Int, headersLength: Int): EventStreamMessage = {
    verify(start, total - ChecksumBytes)
    val headersStart = start + PreludeBytes
    val payloadStart = headersStart + headersLength
    val message = new EventStreamMessage(
      headers(headersStart, payloadStart),
      buffer,
      payloadStart,
      start + total - ChecksumBytes - payloadStart
    )
    start += total
    message
  }

  /** Returns the buffer if it is empty. */
  private def release(): EventStreamMessage = {
    if (start == end) {
      buffers.give(buffer)
      buffer = Empty
      start = 0
      end = 0
    }
    null
  }

  private def headers(from: Int, until: Int): Map[String, String] = {
    val found = Map.newBuilder[String, String]
    var at = from
    while (at < until) {
      val nameLength = buffer(at) & 0xff
      val valueAt = at + 1 + nameLength
      if (valueAt + 3 > until || buffer(valueAt) != TextHeader)
        throw new IOException("An event stream header is not a string")
      val valueLength = (buffer(valueAt + 1) & 0xff) << 8 | buffer(valueAt + 2) & 0xff
      if (valueAt + 3 + valueLength > until) throw new IOException("An event stream header is truncated")
      found += new String(buffer, at + 1, nameLength, UTF_8) -> new String(buffer, valueAt + 3, valueLength, UTF_8)
      at = valueAt + 3 + valueLength
    }
    found.result()
  }

  private def verify(from: Int, length: Int): Unit = {
    checksum.reset()
    checksum.update(buffer, from, length)
    if (checksum.getValue.toInt != intAt(from + length))
      throw new IOException("The checksum of an event stream message is wrong")
  }

  private def intAt(at: Int): Int =
    (buffer(at) & 0xff) << 24 | (buffer(at + 1) & 0xff) << 16 | (buffer(at + 2) & 0xff) << 8 | buffer(at + 3) & 0xff
}

private object EventStreamDecoder {
  private val Empty = new Array[Byte](0)
  private val ChecksumBytes = 4

  /** Size of the prelude: two lengths and their checksum. */
  private val PreludeBytes = 12
  private val TextHeader: Byte = 7

  /** Limits of the encoding: 24 MiB of payload and 128 KiB of headers. */
  private val MaxMessageBytes = 24 * 1024 * 1024 + 128 * 1024 + PreludeBytes + ChecksumBytes
}
