package org.sparkkinesis.spark.settings

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.chunk.DecodeSettings
import org.sparkkinesis.config.{Options, ReadOptions}
import org.sparkkinesis.consume.poll.PollingSettings
import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.retry.{RetryPolicies, RetryRules}

/**
 * What executors need to read; it travels with tasks and placement jobs. Its text holds no secret.
 *
 * @param clients
 *   stream's ARN → as whom and where it is read
 * @param bufferBytes
 *   prefetch memory of each executor; empty for a share of its heap
 * @param fanOut
 *   stream's ARN → consumer's ARN, when the consumers read by enhanced fan-out; a task that reads a range again always polls
 * @param query
 *   how log lines name the query
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

  /** For one of the streams that are read. */
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
