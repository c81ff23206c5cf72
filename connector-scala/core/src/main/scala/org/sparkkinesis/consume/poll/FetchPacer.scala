package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

/** Says how much to ask for and when, for one shard. No clock of its own; used by one thread at a time. */
final private[poll] class FetchPacer(settings: PollingSettings) {
  private var averageRecordBytes = Double.NaN

  /** By how much calls are spread out, since readers elsewhere use the shard's quota too. */
  private var slowdown = 1.0

  /**
   * The `Limit` of the next fetch: what the shard may give until the one after it, and no more than there is room for.
   *
   * Until a record was seen its size is not known; a few are asked for, that they may be large.
   */
  def limit(maxBytes: Long): Int = {
    val perFetch = settings.readBytesPerSecond * settings.catchUpPeriod.toNanos / 1e9
    val size = if (averageRecordBytes.isNaN) FetchPacer.UnknownRecordBytes else math.max(1.0, averageRecordBytes)
    math.max(1.0, math.min(settings.maxRecordsPerFetch.toDouble, math.min(perFetch, maxBytes.toDouble) / size)).toInt
  }

  /**
   * Time from the start of the fetch that brought this until the next.
   *
   * A large answer overdraws the shard's read quota; the service refuses calls until that is made up for (10 MiB: five
   * seconds), so that is how long the next one waits.
   *
   * @param readers
   *   how many publishers of this JVM poll the shard, this one included: each takes its part of the quota
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

  /** Spreads the next calls out after one that was refused for going too fast: others read the shard as well. */
  def throttled(): Unit = slowdown = math.min(FetchPacer.LargestSlowdown, slowdown * FetchPacer.Spread)
}

private[poll] object FetchPacer {

  /** What a record is taken for before one was seen; sets the size of the first answer only. */
  val UnknownRecordBytes: Double = 16 * 1024
  private val Smoothing = 0.3

  /** Two readers at the service's own limit need a factor of two; eight of them one of eight. */
  val LargestSlowdown = 8.0
  private val Spread = 1.5

  /** For each call that is answered: a reader that was alone again after a factor of two is as fast as before after 50 calls. */
  private val Recovery = 0.02
}
