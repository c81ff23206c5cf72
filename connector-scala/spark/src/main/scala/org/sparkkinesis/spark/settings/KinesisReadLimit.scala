package org.sparkkinesis.spark.settings

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.plan.{MinimumRecords, ReadLimits}

/**
 * How much a micro-batch takes, as the options say. Spark hands it back with every trigger; it is a limit of our own since Spark 3.5
 * knows none of bytes. `Trigger.AvailableNow` does not heed the minimum: it takes everything anyway.
 */
final case class KinesisReadLimit(limits: ReadLimits, minimum: Option[MinimumRecords]) extends ReadLimit

object KinesisReadLimit {
  def apply(options: Options): KinesisReadLimit = KinesisReadLimit(
    ReadLimits(options.get(ReadOptions.maxRecordsPerTrigger), options.get(ReadOptions.maxBytesPerTrigger)),
    options.get(ReadOptions.minRecordsPerTrigger).map(MinimumRecords(_, options(ReadOptions.maxTriggerDelay).toMillis))
  )
}
