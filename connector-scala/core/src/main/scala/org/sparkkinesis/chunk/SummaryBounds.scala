package org.sparkkinesis.chunk

/**
 * Limits for joining the summaries of consecutive chunks on the driver. Without joining, a shard that is polled four
 * times per second has four summaries for each second of records that are not planned.
 *
 * A batch ends at the end of a summary. A joined summary is therefore not larger than a chunk can be, so the limits of
 * a batch are kept as closely as with full responses. Two consecutive summaries that are not joined would together
 * exceed one of the limits: a shard has at most `1 + 2 * (rows / maxRows + bytes / maxBytes + time / maxMillis)`
 * summaries, and one more for each planned batch whose chunks are not released.
 *
 * @param maxRows
 *   maximum number of rows of a joined summary
 * @param maxBytes
 *   maximum number of bytes of payloads and keys of a joined summary
 * @param maxMillis
 *   maximum time in milliseconds between the first and the newest arrival. `Trigger.AvailableNow` may read records that
 *   arrived this much later than its target
 */
final case class SummaryBounds(maxRows: Int, maxBytes: Int, maxMillis: Long) {

  /** Returns one summary for both chunks, or `None` if it would exceed a limit. */
  def join(first: ChunkSummary, next: ChunkSummary): Option[ChunkSummary] = {
    val newest = math.max(first.newestArrivalMillis, next.newestArrivalMillis)
    val fits = first.rows.toLong + next.rows <= maxRows && first.bytes + next.bytes <= maxBytes &&
      newest - first.firstArrivalMillis <= maxMillis
    Option.when(fits)(next.copy(
      rows = first.rows + next.rows,
      bytes = first.bytes + next.bytes,
      firstArrivalMillis = first.firstArrivalMillis,
      newestArrivalMillis = newest
    ))
  }
}

object SummaryBounds {
  private val MaxMillis = 10000L

  /** Returns the limits of the chunks themselves, and ten seconds if the chunks may span a longer time. */
  def of(decode: DecodeSettings): SummaryBounds =
    SummaryBounds(decode.maxChunkRows, decode.maxChunkBytes, math.min(MaxMillis, decode.maxChunkMillis))
}
