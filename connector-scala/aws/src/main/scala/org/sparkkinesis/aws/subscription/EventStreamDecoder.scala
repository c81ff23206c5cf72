package org.sparkkinesis.aws.subscription

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32

/** One message of an event stream: its text headers, and where its payload lies in an array that must not be kept. */
final private[aws] class EventStreamMessage(
    val headers: Map[String, String],
    val bytes: Array[Byte],
    val payloadStart: Int,
    val payloadLength: Int
)

/**
 * Cuts a byte stream into messages of the event stream encoding: lengths, header block, payload, two checksums.
 *
 * Its buffer is as large as what it waits for, and none between messages: the SDK's own decoder sets two MiB aside for
 * each subscription, which thousands of idle ones cannot afford. Used by one thread at a time.
 *
 * @param buffers
 *   where it has its buffer from; a message is read before anything else is fed
 */
final private[aws] class EventStreamDecoder(buffers: MessageBuffers) {
  import EventStreamDecoder._

  private var buffer = Empty
  private var start = 0
  private var end = 0
  private val checksum = new CRC32

  /** Takes everything that `bytes` has left. */
  def feed(bytes: ByteBuffer): Unit = {
    val count = bytes.remaining
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
    bytes.get(buffer, end, count)
    end += count
  }

  /**
   * The next whole message, or null until more has come.
   *
   * @throws IOException
   *   when what came is no event stream
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
          s"an event stream message cannot be $total bytes long with $headersLength bytes of headers"
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

  /** Nothing is kept while there is nothing. */
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
        throw new IOException("an event stream header that is no text")
      val valueLength = (buffer(valueAt + 1) & 0xff) << 8 | buffer(valueAt + 2) & 0xff
      if (valueAt + 3 + valueLength > until) throw new IOException("an event stream header that is cut off")
      found += new String(buffer, at + 1, nameLength, UTF_8) -> new String(buffer, valueAt + 3, valueLength, UTF_8)
      at = valueAt + 3 + valueLength
    }
    found.result()
  }

  private def verify(from: Int, length: Int): Unit = {
    checksum.reset()
    checksum.update(buffer, from, length)
    if (checksum.getValue.toInt != intAt(from + length))
      throw new IOException("an event stream message with a wrong checksum")
  }

  private def intAt(at: Int): Int =
    (buffer(at) & 0xff) << 24 | (buffer(at + 1) & 0xff) << 16 | (buffer(at + 2) & 0xff) << 8 | buffer(at + 3) & 0xff
}

private object EventStreamDecoder {
  private val Empty = new Array[Byte](0)
  private val ChecksumBytes = 4

  /** Two lengths and their checksum. */
  private val PreludeBytes = 12
  private val TextHeader: Byte = 7

  /** The encoding's own limits: 24 MiB of payload, 128 KiB of headers. */
  private val MaxMessageBytes = 24 * 1024 * 1024 + 128 * 1024 + PreludeBytes + ChecksumBytes
}
