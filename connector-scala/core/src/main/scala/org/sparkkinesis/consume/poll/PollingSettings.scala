package org.sparkkinesis.consume.poll

import scala.concurrent.duration._

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.model.KinesisQuotas

/**
 * Settings for polling a shard. All readers of a stream share the service's quotas.
 *
 * @param maxRecordsPerFetch
 *   maximum `Limit` of GetRecords
 * @param minFetchPeriod
 *   time between two GetRecords calls of a shard that has no more records to read
 * @param maxFetchesPerSecond
 *   maximum number of GetRecords calls per second and shard while there are more records to read
 * @param readBytesPerSecond
 *   read quota of a shard in bytes per second
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

  /** Time between two GetRecords calls while there are more records to read. */
  def catchUpPeriod: FiniteDuration = (1e9 / maxFetchesPerSecond).toLong.nanos
}

object PollingSettings {
  def of(options: Options): PollingSettings = {
    val fetches = options(ReadOptions.maxFetchesPerSecond)
    // The byte quota grows with the call quota, because only an emulator without quotas accepts more calls.
    val factor = math.max(1.0, fetches / KinesisQuotas.Shard.GetRecordsPerSecond)
    PollingSettings(
      options(ReadOptions.maxRecordsPerFetch).toInt,
      options(ReadOptions.minFetchPeriod),
      fetches,
      (KinesisQuotas.Shard.ReadBytesPerSecond * factor).toLong
    )
  }
}
