package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.model.KinesisQuotas

/**
 * How a shard is polled. The service's quotas bound it, of which several readers of one stream get only a part.
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
    maxRecordsPerFetch: Int,
    minFetchPeriod: FiniteDuration,
    maxFetchesPerSecond: Double,
    readBytesPerSecond: Long
) {
  require(
    maxRecordsPerFetch >= 1 && maxRecordsPerFetch <= KinesisQuotas.Request.GetRecordsLimit,
    s"maxRecordsPerFetch must be from 1 to ${KinesisQuotas.Request.GetRecordsLimit}, was $maxRecordsPerFetch"
  )
  require(maxFetchesPerSecond > 0 && readBytesPerSecond > 0, "rates must be positive")

  /** Time from one GetRecords to the next when behind. */
  def catchUpPeriod: FiniteDuration = (1e9 / maxFetchesPerSecond).toLong.nanos
}

object PollingSettings {
  def of(options: Options): PollingSettings = {
    val fetches = options(ReadOptions.maxFetchesPerSecond)
    // The byte quota goes with the call quota: a service that allows more calls than Kinesis has no quotas.
    val factor = math.max(1.0, fetches / KinesisQuotas.Shard.GetRecordsPerSecond)
    PollingSettings(
      options(ReadOptions.maxRecordsPerFetch).toInt,
      options(ReadOptions.minFetchPeriod),
      fetches,
      (KinesisQuotas.Shard.ReadBytesPerSecond * factor).toLong
    )
  }
}
