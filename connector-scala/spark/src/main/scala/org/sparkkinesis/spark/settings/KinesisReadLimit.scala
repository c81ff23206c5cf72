package org.sparkkinesis.spark.settings

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.plan.{MinimumRecords, ReadLimits}

/**
 * The options' limits of a micro-batch. Spark passes it back at every trigger. Spark 3.5 has no limit in bytes, so
 * this is a separate type. `Trigger.AvailableNow` ignores the minimum, because it takes all records.
 */
final case class KinesisReadLimit(limits: ReadLimits, minimum: Option[MinimumRecords]) extends ReadLimit

object KinesisReadLimit {
  def apply(options: Options): KinesisReadLimit = KinesisReadLimit(
    ReadLimits(
      options.get(ReadOptions.maxRecordsPerTrigger),
      options.get(ReadOptions.maxBytesPerTrigger),
      options.get(ReadOptions.alignShards).map(_.toMillis)
    ),
    options.get(ReadOptions.minRecordsPerTrigger).map(MinimumRecords(_, options(ReadOptions.maxTriggerDelay).toMillis))
  )
}
