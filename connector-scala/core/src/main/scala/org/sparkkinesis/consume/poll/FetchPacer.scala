package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

/** Computes the size and the time of the next fetch of one shard. It has no clock. Not thread-safe. */
final private[poll] class FetchPacer(settings: PollingSettings) {
  private var averageRecordBytes = Double.NaN

  /** Factor by which the pause between calls grows, because readers elsewhere use the quota of the shard too. */
  private var slowdown = 1.0

  /**
   * Returns the `Limit` of the next fetch: the records that the shard's quota allows until the fetch after it, and at
   * most those that fit `maxBytes`.
   *
   * The size of a record is not known before the first one. The first fetch is small, because records may be large.
   */
  def limit(maxBytes: Long): Int = {
    val perFetch = settings.readBytesPerSecond * settings.catchUpPeriod.toNanos / 1e9
    val size = if (averageRecordBytes.isNaN) FetchPacer.UnknownRecordBytes else math.max(1.0, averageRecordBytes)
    math.max(1.0, math.min(settings.maxRecordsPerFetch.toDouble, math.min(perFetch, maxBytes.toDouble) / size)).toInt
  }

  /**
   * Returns the time from the start of the last fetch to the next one.
   *
   * A large response exceeds the shard's read quota, and the service refuses calls until the quota has recovered (after
   * 10 MiB: five seconds). The next fetch waits that long.
   *
   * @param readers
   *   number of publishers of this JVM that poll the shard, including this one; each uses its share of the quota
   */
  def pause(records: Int, bytes: Long, millisBehindLatest: Long, readers: Int = 1): FiniteDuration = {
    slowdown = math.max(1.0, slowdown - FetchPacer.Recovery)
    if (records > 0) {
      val average = bytes.toDouble / records
      averageRecordBytes =
        if (averageRecordBytes.isNaN) average
        else averageRecordBytes + (average - averageRecordBytes) * FetchPacer.Smoothing
    }
    val earned = (bytes * 1e9 / settings.readBytesPerSecond * readers).toLong.nanos
    val share = settings.catchUpPeriod * readers.toLong
    val period = if (millisBehindLatest == 0) settings.minFetchPeriod.max(share) else share
    (period.toNanos * slowdown).toLong.nanos.max(earned)
  }

  /** Returns the factor by which the pause between calls is longer than without throttling. */
  def slowdownFactor: Double = slowdown

  /** Increases the pause after a throttled call, because other readers use the quota of the shard. */
  def throttled(): Unit = slowdown = math.min(FetchPacer.LargestSlowdown, slowdown * FetchPacer.Spread)
}

private[poll] object FetchPacer {

  /** Assumed size in bytes of a record before the first one. It affects only the first response. */
  val UnknownRecordBytes: Double = 16 * 1024
  private val Smoothing = 0.3

  /** Two readers that use the whole quota need a factor of two, eight readers a factor of eight. */
  val LargestSlowdown = 8.0
  private val Spread = 1.5

  /**
   * Reduction per successful call. After a factor of two, a reader that is alone again has its full speed after 50
   * calls.
   */
  private val Recovery = 0.02
}
