package org.sparkkinesis.emulator.engine.shard

import java.nio.charset.StandardCharsets

/** The parts of a version 2 sequence number. Times are epoch seconds. */
final case class SequenceParts(shardCreatedSeconds: Long, shardIndex: Long, seqIx: Long, recordSeconds: Long)

/**
 * Encodes and decodes sequence numbers in the format of the service: 188 bits, written as 56 decimal digits.
 *
 * From the highest bit: the digit 2 (4 bits), shard creation (36), low nibble of the shard's index (4), seqIx (64),
 * zeros (8), record time (36), shard index (32), version 2 (4).
 */
object SequenceNumbers {

  /** The seqIx in the EndingSequenceNumber of every closed shard. */
  val EndSeqIx: Long = 0x7fffffffffffffffL
  private val Digits = 56
  private val Billion = 1000000000L
  private val Mask36 = (1L << 36) - 1

  def encode(parts: SequenceParts): String =
    encode(parts.shardCreatedSeconds, parts.shardIndex, parts.seqIx, parts.recordSeconds)

  def encode(shardCreatedSeconds: Long, shardIndex: Long, seqIx: Long, recordSeconds: Long): String = {
    val time = recordSeconds & Mask36
    val created = shardCreatedSeconds & Mask36
    val low = 2L | (shardIndex & 0xffffffffL) << 4 | time << 36
    val middle = time >>> 28 | seqIx << 16
    val high = seqIx >>> 48 | (shardIndex & 0xf) << 16 | created << 20 | 2L << 56
    decimal(high, middle, low)
  }

  def decode(sequenceNumber: String): Option[SequenceParts] =
    if (sequenceNumber.length != Digits) None
    else {
      val bits = BigInt(sequenceNumber)
      def field(from: Int, width: Int): Long = ((bits >> from) & ((BigInt(1) << width) - 1)).toLong
      val shardIndex = field(4, 32)
      val wellFormed = field(0, 4) == 2 && field(184, 4) == 2 &&
        (bits >> 188) == 0 && field(72, 8) == 0 &&
        field(144, 4) ==
        (shardIndex & 0xf)
      if (wellFormed) Some(SequenceParts(field(148, 36), shardIndex, field(80, 64), field(36, 36))) else None
    }

  // Long division by 10^9 over six 32-bit limbs is about five times as fast as BigInteger, and each put record needs
  // it.
  private def decimal(high: Long, middle: Long, low: Long): String = {
    val limbs =
      Array(high >>> 32, high & 0xffffffffL, middle >>> 32, middle & 0xffffffffL, low >>> 32, low & 0xffffffffL)
    val text = new Array[Byte](Digits)
    var end = Digits
    var first = 0
    while (end > 0) {
      // Skipping limbs that are zero saves nearly half of the divisions.
      while (first < limbs.length && limbs(first) == 0) first += 1
      var remainder = 0L
      var i = first
      while (i < limbs.length) {
        val dividend = remainder << 32 | limbs(i)
        val quotient = dividend / Billion
        limbs(i) = quotient
        remainder = dividend - quotient * Billion
        i += 1
      }
      var left = remainder.toInt
      val stop = math.max(0, end - 9)
      while (end > stop) {
        end -= 1
        text(end) = ('0' + left % 10).toByte
        left /= 10
      }
    }
    new String(text, StandardCharsets.ISO_8859_1)
  }
}
