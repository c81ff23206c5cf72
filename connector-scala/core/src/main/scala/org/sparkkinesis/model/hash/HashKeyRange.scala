package org.sparkkinesis.model.hash

import java.nio.charset.StandardCharsets
import java.security.MessageDigest

/** The hash keys of a shard, from `start` to `end` inclusive. */
final case class HashKeyRange(start: BigInt, end: BigInt) {
  require(
    start >= 0 && start <= end && end <= HashKeyRange.Max,
    s"hash key range $start to $end is empty or outside 0 to ${HashKeyRange.Max}"
  )

  def contains(hashKey: BigInt): Boolean = start <= hashKey && hashKey <= end

  def overlaps(other: HashKeyRange): Boolean = start <= other.end && other.start <= end

  def isAdjacentTo(other: HashKeyRange): Boolean = end + 1 == other.start || other.end + 1 == start

  /** Returns the smallest range that covers both ranges. Intended for adjacent ranges. */
  def union(other: HashKeyRange): HashKeyRange = HashKeyRange(start.min(other.start), end.max(other.end))
}

object HashKeyRange {

  /** The largest hash key, 2^128 - 1. */
  val Max: BigInt = (BigInt(1) << 128) - 1

  val Whole: HashKeyRange = HashKeyRange(0, Max)

  /** Returns the first keys of `whole` that are in none of the ranges. */
  def gap(whole: HashKeyRange, taken: Seq[HashKeyRange]): Option[HashKeyRange] = {
    val inOrder = taken.sortBy(_.start)
    val next =
      inOrder.foldLeft(whole.start)((next, range) => if (range.start <= next) next.max(range.end + 1) else next)
    val end = inOrder.find(_.start > next).fold(whole.end)(after => whole.end.min(after.start - 1))
    Option.when(next <= whole.end)(HashKeyRange(next, end))
  }

  /**
   * Splits the key space like the service for a new stream: `count` ranges of `floor(2^128 / count)` keys, of which the
   * last one is longer.
   */
  def uniform(count: Int): IndexedSeq[HashKeyRange] = {
    require(count > 0, s"shard count must be positive, was $count")
    val width = (Max + 1) / count
    (0 until count).map { i =>
      HashKeyRange(width * i, if (i == count - 1) Max else width * (i + 1) - 1)
    }
  }
}

/** Computes and parses hash keys. */
object HashKey {

  /** Returns the MD5 digest of the key's UTF-8 bytes as an unsigned big-endian number. */
  def ofPartitionKey(partitionKey: String): BigInt =
    BigInt(1, MessageDigest.getInstance("MD5").digest(partitionKey.getBytes(StandardCharsets.UTF_8)))

  /** Parses an explicit hash key: `0|([1-9]\d{0,38})` and at most 2^128 - 1. */
  def parse(text: String): Option[BigInt] =
    if (
      text.nonEmpty && text.length <= 39 && text.forall(c => c >= '0' && c <= '9') && (text == "0" || text.head != '0')
    )
      Some(BigInt(text)).filter(_ <= HashKeyRange.Max)
    else None
}
