package org.sparkkinesis.config

import org.sparkkinesis.config.value.{OnInvalidRecord, OptionType, SecretResolver}
import org.sparkkinesis.model.FirehoseQuotas

/** The options of the sink for Amazon Data Firehose: its own ones, and those that it shares with the Kinesis sink. */
object FirehoseOptions {
  import OptionType._

  val deliveryStreamName: ConfigEntry[String] = ConfigEntry(
    "deliveryStreamName",
    Matching(
      "the name of a delivery stream: 1 to 64 characters a-z, A-Z, 0-9, '_', '.', '-'",
      s"[a-zA-Z0-9_.-]{1,${FirehoseQuotas.DeliveryStreamNameMaxChars}}",
      "It is not the name of a delivery stream."
    ),
    Scope.Connection,
    "Name of the delivery stream, which must have Direct PUT as its source.",
    defaultDoc = "required"
  )

  val maxBatchBytes: ConfigEntry[Long] = WriteOptions.maxBatchBytes.copy(
    kind = Bytes(1024, FirehoseQuotas.Request.PutRecordBatchBytes.toLong),
    doc = "Maximum number of bytes per request, before base64 encoding.",
    default = Some("4m")
  )

  val maxBufferedRecords: ConfigEntry[Long] = WriteOptions.maxBufferedRecords.copy(
    doc = "Maximum number of records that a task holds, including sent records without an answer. At this limit the " +
      "task waits."
  )

  val maxBufferedBytes: ConfigEntry[Long] = WriteOptions.maxBufferedBytes.copy(
    doc = "Maximum number of bytes that a task holds. At this limit the task waits."
  )

  val onInvalidRecord: ConfigEntry[OnInvalidRecord] = WriteOptions.onInvalidRecord.copy(
    doc =
      "What happens to a row that cannot become a record, because its data is null or too large: `fail` fails the " +
        "task; `deadLetter` writes the row and the reason to `deadLetterTable`; `drop` drops and counts it."
  )

  /**
   * Validates the names and values of all options. Options of other connectors have no meaning here.
   *
   * @throws org.sparkkinesis.error.KinesisConnectorException
   *   as [[Options.overTable]]
   */
  def overTable(
      table: Map[String, String],
      own: Map[String, String],
      secrets: SecretResolver = SecretResolver.OfProcess
  ): Options = Options.overTable(table, own, all, _ => None, secrets)

  /** Does the same without a table. */
  def read(raw: Map[String, String], secrets: SecretResolver = SecretResolver.OfProcess): Options =
    overTable(Map.empty, raw, secrets)

  /** Whether there is an option of this name, in any case. */
  def isOption(name: String): Boolean = Options.isOption(name, all, _ => None)

  private val region = ConnectionOptions.region.copy(
    doc = "AWS region of the delivery stream.",
    defaultDoc = "the region of the AWS default chain"
  )

  val all: Seq[ConfigEntry[_]] = Seq(
    deliveryStreamName,
    region,
    ConnectionOptions.endpoint,
    ConnectionOptions.allowInsecureEndpoint,
    ConnectionOptions.awsAccessKey,
    ConnectionOptions.awsSecretKey,
    ConnectionOptions.sessionToken,
    ConnectionOptions.profile,
    ConnectionOptions.roleArn,
    ConnectionOptions.roleExternalId,
    ConnectionOptions.roleSessionName,
    ConnectionOptions.stsEndpoint,
    ConnectionOptions.credentialsProvider,
    ConnectionOptions.credentialsProviderOptions
  ) ++ NetworkOptions.ofAllServices ++ Seq(
    // The number of records per request is limited to 500 by both services.
    WriteOptions.maxBatchSize,
    maxBatchBytes,
    WriteOptions.maxTimeInBuffer,
    WriteOptions.sendWhenIdle,
    WriteOptions.maxInFlightRequests,
    maxBufferedRecords,
    maxBufferedBytes,
    WriteOptions.rateLimiting,
    onInvalidRecord,
    WriteOptions.deadLetterTable,
    WriteOptions.deliveryTimeout
  ) ++ RateLimitingOptions.all ++ RetryOptions.putRecordBatch.all :+ RetryOptions.recoverableErrors
}
