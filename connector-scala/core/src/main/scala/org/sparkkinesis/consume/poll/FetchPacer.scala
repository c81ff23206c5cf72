package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

/** Says how much to ask for and when, for one shard. No clock of its own; used by one thread at a time. */
final private[poll] class FetchPacer(settings: PollingSettings) {
  private var averageRecordBytes = Double.NaN

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
   */
  def pause(records: Int, bytes: Long, millisBehindLatest: Long): FiniteDuration = {
    if (records > 0) {
      val average = bytes.toDouble / records
      averageRecordBytes =
        if (averageRecordBytes.isNaN) average
        else averageRecordBytes + (average - averageRecordBytes) * FetchPacer.Smoothing
    }
    val earned = (bytes * 1e9 / settings.readBytesPerSecond).toLong.nanos
    val period =
      if (millisBehindLatest == 0) settings.minFetchPeriod.max(settings.catchUpPeriod) else settings.catchUpPeriod
    period.max(earned)
  }
}

private[poll] object FetchPacer {

  /** What a record is taken for before one was seen; sets the size of the first answer only. */
  val UnknownRecordBytes: Double = 16 * 1024
  private val Smoothing = 0.3
}
