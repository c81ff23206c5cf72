package org.sparkkinesis.chunk

/**
 * How far the summaries of neighbouring chunks are joined, so that what the driver knows of a slow shard stays small: without it a shard
 * that is polled four times a second has four summaries for each second that no batch has taken.
 *
 * A batch ends where a summary does, so a joined one is no larger than a chunk may be by itself: limits are kept as closely as for a
 * stream whose answers are full. Of any two that follow each other and were not joined, one of these bounds would be passed: a shard has
 * at most `1 + 2 * (rows / maxRows + bytes / maxBytes + time / maxMillis)` of them, and one more for each batch that is not released.
 *
 * @param maxMillis
 *   between the first arrival and the newest one: how much later than its target `Trigger.AvailableNow` may read
 */
final case class SummaryBounds(maxRows: Int, maxBytes: Int, maxMillis: Long) {

  /** One summary of both; none when it would be too large. */
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

  /** Those of the chunks themselves. */
  def of(decode: DecodeSettings): SummaryBounds = SummaryBounds(decode.maxChunkRows, decode.maxChunkBytes, MaxMillis)
}
