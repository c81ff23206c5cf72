package org.sparkkinesis.model

import java.nio.charset.StandardCharsets
import java.security.MessageDigest

/** The hash keys `start` to `end`, both included, that a shard takes. */
final case class HashKeyRange(start: BigInt, end: BigInt) {
  require(
    start >= 0 && start <= end && end <= HashKeyRange.Max,
    s"hash key range $start to $end is outside 0 to ${HashKeyRange.Max}, or empty"
  )

  def contains(hashKey: BigInt): Boolean = start <= hashKey && hashKey <= end

  def isAdjacentTo(other: HashKeyRange): Boolean = end + 1 == other.start || other.end + 1 == start

  /** The smallest range that covers both; meant for adjacent ones. */
  def union(other: HashKeyRange): HashKeyRange = HashKeyRange(start.min(other.start), end.max(other.end))
}

object HashKeyRange {

  /** 2^128 - 1, the greatest hash key. */
  val Max: BigInt = (BigInt(1) << 128) - 1

  val Whole: HashKeyRange = HashKeyRange(0, Max)

  /** The first keys of `whole` that none of the ranges takes. */
  def gap(whole: HashKeyRange, taken: Seq[HashKeyRange]): Option[HashKeyRange] = {
    val inOrder = taken.sortBy(_.start)
    val next =
      inOrder.foldLeft(whole.start)((next, range) => if (range.start <= next) next.max(range.end + 1) else next)
    val end = inOrder.find(_.start > next).fold(whole.end)(after => whole.end.min(after.start - 1))
    Option.when(next <= whole.end)(HashKeyRange(next, end))
  }

  /** Splits the whole key space as the service does for a new stream: `count` ranges of `floor(2^128 / count)` keys, the last one longer. */
  def uniform(count: Int): IndexedSeq[HashKeyRange] = {
    require(count > 0, s"shard count must be positive, was $count")
    val width = (Max + 1) / count
    (0 until count).map { i =>
      HashKeyRange(width * i, if (i == count - 1) Max else width * (i + 1) - 1)
    }
  }
}

/** Where a partition key falls in the key space. */
object HashKey {

  /** MD5 of the key's UTF-8 bytes, read as an unsigned big-endian number. */
  def ofPartitionKey(partitionKey: String): BigInt =
    BigInt(1, MessageDigest.getInstance("MD5").digest(partitionKey.getBytes(StandardCharsets.UTF_8)))

  /** An explicit hash key: `0|([1-9]\d{0,38})` and at most 2^128 - 1. */
  def parse(text: String): Option[BigInt] =
    if (
      text.nonEmpty && text.length <= 39 && text.forall(c => c >= '0' && c <= '9') && (text == "0" || text.head != '0')
    )
      Some(BigInt(text)).filter(_ <= HashKeyRange.Max)
    else None
}
