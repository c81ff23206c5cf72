package org.sparkkinesis.spark.settings

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/**
 * The settings with which executors read. Spark sends them with tasks and start jobs. `toString` contains no secret.
 *
 * @param clients
 *   client settings by stream ARN: endpoint, region and credentials
 * @param bufferBytes
 *   prefetch memory of each executor in bytes; empty for a share of its heap
 * @param fanOut
 *   consumer ARN by stream ARN if the consumers use enhanced fan-out; a task that reads a range again always polls
 * @param query
 *   the query's names for log lines
 */
final case class ReadSettings(
    clients: Map[String, ClientSettings],
    polling: PollingSettings,
    retries: RetryPolicies,
    rules: RetryRules,
    decode: DecodeSettings,
    bufferBytes: Option[Long],
    failOnDataLoss: Boolean,
    fanOut: Option[Map[String, String]] = None,
    query: QueryContext = QueryContext.Unknown
) {

  /** Returns the client settings of one of the streams. */
  def client(streamArn: String): ClientSettings = clients(streamArn)
}

object ReadSettings {

  def apply(options: Options, clients: Map[String, ClientSettings]): ReadSettings = ReadSettings(
    clients,
    PollingSettings.of(options),
    RetryPolicies.of(options),
    RetryRules.of(options),
    DecodeSettings.of(options),
    options.get(ReadOptions.fetchBufferSize),
    options(ReadOptions.failOnDataLoss)
  )
}
