package org.sparkkinesis.spark.coordinator.state

/**
 * Measures how fast one shard is fetched. Not thread-safe.
 *
 * The rates cover the time since an earlier call of [[at]], at least [[ReadRate.Period]] ago, so that two calls shortly
 * after each other return the same rates.
 */
final private[coordinator] class ReadRate {
  private var counted = ReadCounts.Zero
  private var since: Option[Long] = None
  private var latest: Option[FetchRates] = None

  /** Counts the responses of a report, and the rows and bytes of their records. */
  def add(reads: Int, rows: Long, bytes: Long): Unit =
    counted = ReadCounts(counted.reads + reads, counted.rows + rows, counted.bytes + bytes)

  /**
   * Returns the latest rates; `None` until a period has passed.
   *
   * @param nowMillis
   *   the current time, epoch milliseconds
   */
  def at(nowMillis: Long): Option[FetchRates] = {
    val elapsed = nowMillis - since.getOrElse(nowMillis)
    if (since.isEmpty || elapsed >= ReadRate.Period) {
      if (elapsed > 0) latest = Some(counted.over(elapsed))
      counted = ReadCounts.Zero
      since = Some(nowMillis)
    }
    latest
  }
}

private[coordinator] object ReadRate {

  /** Minimum time over which a rate is measured, in milliseconds. */
  val Period = 1000L
}

/**
 * The rates at which one shard was fetched recently.
 *
 * @param bytesPerRead
 *   mean number of payload and key bytes per response or pushed event
 */
final case class FetchRates(readsPerSecond: Double, rowsPerSecond: Double, bytesPerSecond: Double, bytesPerRead: Double)

final private[coordinator] case class ReadCounts(reads: Long, rows: Long, bytes: Long) {
  def over(millis: Long): FetchRates = {
    val seconds = millis / 1000.0
    FetchRates(reads / seconds, rows / seconds, bytes / seconds, bytes.toDouble / math.max(1, reads))
  }
}

private[coordinator] object ReadCounts {
  val Zero: ReadCounts = ReadCounts(0, 0, 0)
}
