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
 * @param diskBytes
 *   maximum size in bytes of the local files of each executor for fetched records that its memory cannot hold
 * @param fanOut
 *   consumer ARN by stream ARN if the consumers use enhanced fan-out; a task that reads a range again always polls
 * @param query
 *   the query's names for log lines
 * @param joining
 *   settings from which those of streams are made that join while the query is running; empty if none can
 */
final case class ReadSettings(
    clients: Map[String, ClientSettings],
    polling: PollingSettings,
    retries: RetryPolicies,
    rules: RetryRules,
    decode: DecodeSettings,
    bufferBytes: Option[Long],
    diskBytes: Long,
    failOnDataLoss: Boolean,
    fanOut: Option[Map[String, String]],
    query: QueryContext,
    joining: Option[ClientSettings]
) {

  /** Returns the settings with streams that joined, or whose connections changed, by their ARNs. */
  def withStreams(connections: Map[String, StreamConnection]): ReadSettings = joining.fold(this) { base =>
    copy(
      clients = clients ++ connections.map { case (arn, connection) => arn -> connection.client(base) },
      fanOut = fanOut.map(_ ++ connections.collect { case (arn, StreamConnection(_, _, _, Some(own))) => arn -> own })
    )
  }

  /** Returns the client settings of one of the streams. */
  def client(streamArn: String): ClientSettings = clients(streamArn)
}

object ReadSettings {

  /** Returns the settings of a query that polls, has no names, and whose streams do not change. */
  def apply(options: Options, clients: Map[String, ClientSettings]): ReadSettings = ReadSettings(
    clients,
    PollingSettings.of(options),
    RetryPolicies.of(options),
    RetryRules.of(options),
    DecodeSettings.of(options),
    options.get(ReadOptions.fetchBufferSize),
    options(ReadOptions.fetchDiskSize),
    options(ReadOptions.failOnDataLoss),
    fanOut = None,
    query = QueryContext.Unknown,
    joining = None
  )
}
