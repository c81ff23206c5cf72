package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.model.{KinesisQuotas, StreamRef}

/** How rows are written. */
object WriteOptions {
  import OptionType._

  private val write = new Declaration(Scope.Write)

  val partitionKey: ConfigEntry[String] = write(
    "partitionKey",
    Text,
    "Where the partition key comes from when the rows have no column `partitionKey`: `random`, `hash(column, …)`, or the name of a column.",
    defaultDoc = "column `partitionKey`"
  )

  val maxBatchSize: ConfigEntry[Long] = write(
    "maxBatchSize",
    Whole(1, KinesisQuotas.Request.PutRecordsEntries.toLong),
    "Most records of one PutRecords.",
    default = KinesisQuotas.Request.PutRecordsEntries.toString
  )

  val maxBatchBytes: ConfigEntry[Long] = write(
    "maxBatchBytes",
    Bytes(1024, KinesisQuotas.Request.PutRecordsBytes.toLong),
    "Most bytes of one PutRecords, payloads and keys.",
    default = "10m"
  )

  val maxTimeInBuffer: ConfigEntry[FiniteDuration] =
    write(
      "maxTimeInBuffer",
      Duration(1.milli, 1.hour),
      "Longest time that a record waits for its batch to fill.",
      default = "1s"
    )

  val maxInFlightRequests: ConfigEntry[Long] =
    write("maxInFlightRequests", Whole(1, 10000), "Most PutRecords calls at a time, for each task.", default = "50")

  val maxBufferedRecords: ConfigEntry[Long] =
    write(
      "maxBufferedRecords",
      Whole(1, 100000000),
      "Most records that a task holds, sent ones without an answer included; then it waits. With `aggregation` only bytes count.",
      default = "10000"
    )

  val maxBufferedBytes: ConfigEntry[Long] =
    write("maxBufferedBytes", Bytes(1024, 1L << 40), "Most bytes that a task holds; then it waits.", default = "64m")

  val rateLimiting: ConfigEntry[RateLimitingOption] = write(
    "rateLimiting",
    RateLimitingOption.optionType,
    "How the sink finds the rate that the stream takes: `aimd`, `batchAndDelay`, `none`, or the name of a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.",
    default = "aimd"
  )

  val shardLimits: ConfigEntry[Boolean] = write(
    "shardLimits",
    Flag,
    "Find each shard's rate by itself, so that a hot shard delays only its own records; needs kinesis:ListShards.",
    default = "true"
  )

  val ordering: ConfigEntry[WriteOrdering] = write(
    "ordering",
    OneOf(WriteOrdering.all),
    "With `key` no record overtakes an earlier one of the same partition key.",
    default = "none"
  )

  val aggregation: ConfigEntry[Boolean] =
    write(
      "aggregation",
      Flag,
      "Pack many small records into one, in the format of the Kinesis Producer Library.",
      default = "false"
    )

  val onInvalidRecord: ConfigEntry[OnInvalidRecord] = write(
    "onInvalidRecord",
    OneOf(OnInvalidRecord.all),
    "What becomes of a row that cannot be a record (size, key): the task fails, it goes to `deadLetterStream` or `deadLetterTable` with its reason, or it is left out and counted.",
    default = "fail"
  )

  val deadLetterStream: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "deadLetterStream",
    Parsed[Seq[StreamRef]]("the name or the ARN of a stream", _.mkString(",")) { text =>
      StreamRef.parse(text.trim).map(Seq(_)).toRight("It is neither the name nor the ARN of a stream.")
    },
    Scope.Write,
    "Stream for invalid rows, with `onInvalidRecord=deadLetter`."
  )

  val deadLetterTable: ConfigEntry[String] = write(
    "deadLetterTable",
    Text,
    "Table for invalid rows, with `onInvalidRecord=deadLetter`; they are appended when their batch is committed. Its columns are in the guide to writing."
  )

  val requestTimeout: ConfigEntry[FiniteDuration] =
    write(
      "requestTimeout",
      Duration(100.millis, 10.minutes),
      "How long one PutRecords may take before it is sent again.",
      default = "30s"
    )

  val deliveryTimeout: ConfigEntry[FiniteDuration] =
    write(
      "deliveryTimeout",
      Duration(1.second, 1.day),
      "How long the sink tries to deliver a record before the task fails.",
      default = "10m"
    )

  val all: Seq[ConfigEntry[_]] = Seq(
    partitionKey,
    maxBatchSize,
    maxBatchBytes,
    maxTimeInBuffer,
    maxInFlightRequests,
    maxBufferedRecords,
    maxBufferedBytes,
    rateLimiting,
    shardLimits,
    ordering,
    aggregation,
    onInvalidRecord,
    deadLetterStream,
    deadLetterTable,
    requestTimeout,
    deliveryTimeout
  )
}
