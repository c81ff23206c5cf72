package org.sparkkinesis.reference

import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.model.KinesisQuotas._

/** `_quotas.py`: the quotas of the service and the defaults of options from which the size of a deployment follows. */
object PythonQuotas {
  private val defaults = Options.read(Map.empty)

  private val constants: Seq[(String, String)] = Seq(
    "GET_RECORDS_PER_SECOND" -> Shard.GetRecordsPerSecond.toString,
    "READ_BYTES_PER_SECOND" -> Shard.ReadBytesPerSecond.toString,
    "FAN_OUT_BYTES_PER_SECOND" -> Shard.FanOutBytesPerSecond.toString,
    "WRITE_BYTES_PER_SECOND" -> Shard.WriteBytesPerSecond.toString,
    "WRITE_RECORDS_PER_SECOND" -> Shard.WriteRecordsPerSecond.toString,
    "CONSUMERS_PER_STREAM" -> Count.ConsumersPerStream.toString,
    "CONSUMERS_PER_STREAM_ADVANTAGE" -> Count.ConsumersPerStreamAdvantage.toString,
    "CONSUMERS_CREATING_AT_ONCE" -> Count.ConsumersCreatingAtOnce.toString,
    "SHARDS_PER_ACCOUNT" -> Count.ShardsPerAccount.toString,
    "LIST_SHARDS_PER_STREAM" -> CallRate.ListShardsPerStream.toString,
    "LIST_SHARDS_PAGE" -> Request.ListShardsPage.toString,
    "DESCRIBE_STREAM_SUMMARY_PER_ACCOUNT" -> CallRate.DescribeStreamSummaryPerAccount.toString,
    "CONSUMER_CHANGES_PER_STREAM" -> CallRate.ConsumerChangePerStream.toString,
    "SUBSCRIPTION_SECONDS" -> Lifetime.Subscription.toSeconds.toString,
    "PAYLOAD_UNIT_BYTES" -> Billing.PayloadUnitBytes.toString,
    "MIN_FETCH_PERIOD_MS" -> defaults(ReadOptions.minFetchPeriod).toMillis.toString,
    "SHARD_FETCH_INTERVAL_MS" -> defaults(ReadOptions.shardFetchInterval).toMillis.toString
  )

  def text: String =
    s"""# Made from the declarations in connector-scala/core; renew with: ${GeneratedFiles.Command}
       |\"\"\"Quotas of the service, and defaults of options. Not meant to be edited.\"\"\"
       |
       |from __future__ import annotations
       |
       |${constants.map { case (name, value) => s"$name = $value" }.mkString("\n")}
       |""".stripMargin
}
