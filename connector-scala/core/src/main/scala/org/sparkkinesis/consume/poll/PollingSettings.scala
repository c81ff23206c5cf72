package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.model.KinesisQuotas

/**
 * How a shard is polled. Defaults are the service's quotas, of which several readers of one stream get only a part.
 *
 * @param maxRecordsPerFetch
 *   the largest `Limit`
 * @param minFetchPeriod
 *   time from one GetRecords to the next when the shard has nothing new
 * @param maxFetchesPerSecond
 *   for each shard, when there is something to catch up with
 * @param readBytesPerSecond
 *   for each shard
 */
final case class PollingSettings(
    maxRecordsPerFetch: Int = KinesisQuotas.Request.GetRecordsLimit,
    minFetchPeriod: FiniteDuration = 250.millis,
    maxFetchesPerSecond: Double = KinesisQuotas.Shard.GetRecordsPerSecond.toDouble,
    readBytesPerSecond: Long = KinesisQuotas.Shard.ReadBytesPerSecond.toLong
) {
  require(
    maxRecordsPerFetch >= 1 && maxRecordsPerFetch <= KinesisQuotas.Request.GetRecordsLimit,
    s"maxRecordsPerFetch must be from 1 to ${KinesisQuotas.Request.GetRecordsLimit}, was $maxRecordsPerFetch"
  )
  require(maxFetchesPerSecond > 0 && readBytesPerSecond > 0, "rates must be positive")

  /** Time from one GetRecords to the next when behind. */
  def catchUpPeriod: FiniteDuration = (1e9 / maxFetchesPerSecond).toLong.nanos
}
