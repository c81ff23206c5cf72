package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.{
  OnInvalidRecord, OptionType, OrderColumn, RateLimitingOption, RouterOption, WriteOrdering
}
import org.sparkkinesis.model.{KinesisQuotas, StreamRef}

/** The options for writes. */
object WriteOptions {
  import OptionType._

  private val write = new Declaration(Scope.Write)

  val partitionKey: ConfigEntry[String] = write(
    "partitionKey",
    Text,
    "Source of the partition key: `random`, `hash(column, …)`, or the name of a column. It takes precedence over a " +
      "column `partitionKey`.",
    defaultDoc = "column `partitionKey`"
  )

  val streamColumn: ConfigEntry[String] = write(
    "streamColumn",
    Text,
    "Column with the name or the ARN of the stream that a row goes to. A row where it is null goes to the stream of " +
      "`streamName` or `streamARN`.",
    defaultDoc = "column `stream` if neither `streamName` nor `streamARN` is set, otherwise none"
  )

  val router: ConfigEntry[RouterOption] = write(
    "router",
    RouterOption.optionType,
    "How records are distributed over the active physical streams of `streamId`: `roundRobin` fills a request for " +
      "one stream, then for the next one, by their weights; `hash` writes all records of a partition key to one " +
      "stream; `priority` writes to the streams with the highest priority. `class:` and the name of a " +
      "`RecordRouter` of the connector, or of a `java.util.function.BiFunction<String, List<String>, String>` that " +
      "gets a partition key and the ARNs, returns the ARN for each record.",
    default = "roundRobin",
    effect = Effect.OfWrites.streams(StreamSelection.Logical)
  )

  val metadataCache: ConfigEntry[String] = write(
    "metadataCache",
    Text,
    "Directory for the last metadata document of `streamId`, with which a write starts while the metadata service is " +
      "unavailable.",
    defaultDoc = "the checkpoint of the query; none for batch writes",
    effect = Effect.OfWrites.streams(StreamSelection.Logical)
  )

  val maxBatchSize: ConfigEntry[Long] = write(
    "maxBatchSize",
    Whole(1, KinesisQuotas.Request.PutRecordsEntries.toLong),
    "Maximum number of records per request.",
    default = KinesisQuotas.Request.PutRecordsEntries.toString
  )

  val maxBatchBytes: ConfigEntry[Long] = write(
    "maxBatchBytes",
    Bytes(1024, KinesisQuotas.Request.PutRecordsBytes.toLong),
    "Maximum number of bytes (payloads and keys) per request.",
    default = "10m"
  )

  val maxTimeInBuffer: ConfigEntry[FiniteDuration] =
    write(
      "maxTimeInBuffer",
      Duration(1.milli, 1.hour),
      "Maximum time that a record waits for its request to fill.",
      default = "1s"
    )

  val sendWhenIdle: ConfigEntry[Boolean] = write(
    "sendWhenIdle",
    Flag,
    "Send a record at once when the task has no request in flight to its stream. Records that are written meanwhile " +
      "form the next request. Use it in real-time mode. In other modes it only makes requests smaller.",
    default = "false"
  )

  val maxInFlightRequests: ConfigEntry[Long] =
    write(
      "maxInFlightRequests",
      Whole(1, 10000),
      "Maximum number of concurrent requests of a task to one stream.",
      default = "50"
    )

  val maxBufferedRecords: ConfigEntry[Long] =
    write(
      "maxBufferedRecords",
      Whole(1, 100000000),
      "Maximum number of records that a task holds for all of its streams, including sent records without an " +
        "answer. At this limit the task waits. With `aggregation`, `maxBufferedBytes` alone determines it.",
      default = "10000",
      effect = Effect.OfWrites.withAny(Need("aggregation", Seq("false")))
    )

  val maxBufferedBytes: ConfigEntry[Long] =
    write(
      "maxBufferedBytes",
      Bytes(1024, 1L << 40),
      "Maximum number of bytes of records that a task holds for all of its streams. At this limit the task waits. " +
        "The memory of a task is at most a multiple of it.",
      default = "64m"
    )

  val rateLimiting: ConfigEntry[RateLimitingOption] = write(
    "rateLimiting",
    RateLimitingOption.optionType,
    "How the sink adapts its rate to what the stream accepts: `aimd`, `batchAndDelay`, `none`, or the " +
      "name of a class that extends `org.sparkkinesis.sink.limit.RateLimitingStrategy`.",
    default = "aimd"
  )

  val shardLimits: ConfigEntry[Boolean] = write(
    "shardLimits",
    Flag,
    "Limit the rate of each shard separately, so that a hot shard delays only its own records. This " +
      "requires the permission kinesis:ListShards.",
    default = "true"
  )

  val ordering: ConfigEntry[WriteOrdering] = write(
    "ordering",
    OneOf(WriteOrdering.all),
    "Order of the records. With `key`, no record overtakes an earlier record with the same partition key. With " +
      "`bestEffort`, the records of a key are in one request at a time, so that they keep their order unless one of " +
      "them is refused.",
    default = "none"
  )

  val distributeByKey: ConfigEntry[Boolean] = write(
    "distributeByKey",
    Flag,
    "Let Spark bring all rows of a partition key into one task. Without it, rows of a key that are in several tasks " +
      "have no order.",
    defaultDoc = "`true` with `ordering=key`, otherwise `false`"
  )

  val orderBy: ConfigEntry[Seq[OrderColumn]] = write(
    "orderBy",
    OrderColumn.optionType,
    "Columns by which each task sorts its rows, with `ordering` set to `key` or `bestEffort`. They may be columns " +
      "that are not written.",
    defaultDoc = "the order in which the rows arrive"
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
    "What happens to a row that cannot become a record because of its size or key: `fail` fails the task; " +
      "`deadLetter` writes the row and the reason to `deadLetterStream` or `deadLetterTable`; `drop` drops " +
      "and counts it.",
    default = "fail"
  )

  private val deadLetter: Effect =
    Effect.OfWrites.withAny(Need("onInvalidRecord", Seq("deadLetter"))).copy(isMistakeWithout = true)

  val deadLetterStream: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "deadLetterStream",
    Parsed[Seq[StreamRef]]("the name or the ARN of a stream", _.mkString(",")) { text =>
      StreamRef.parse(text.trim).map(Seq(_)).toRight("It is neither the name nor the ARN of a stream.")
    },
    Scope.Write,
    "Stream for invalid rows, with `onInvalidRecord=deadLetter`.",
    declaredEffect = Some(deadLetter)
  )

  val deadLetterTable: ConfigEntry[String] = write(
    "deadLetterTable",
    Text,
    "Table for invalid rows, with `onInvalidRecord=deadLetter`. The rows are appended when their batch is " +
      "committed. The guide to writing has the columns of the table.",
    effect = deadLetter
  )

  val deliveryTimeout: ConfigEntry[scala.concurrent.duration.Duration] =
    write(
      "deliveryTimeout",
      DurationOrInfinite(Duration(1.second, 1.day)),
      "Maximum time for which a record waits while its stream accepts no record at all. After that, the task fails. " +
        "A stream that accepts records slowly does not fail a task. With `infinite`, the task waits until the " +
        "service accepts the record.",
      default = "10m"
    )

  val all: Seq[ConfigEntry[_]] = Seq(
    partitionKey,
    streamColumn,
    router,
    metadataCache,
    maxBatchSize,
    maxBatchBytes,
    maxTimeInBuffer,
    sendWhenIdle,
    maxInFlightRequests,
    maxBufferedRecords,
    maxBufferedBytes,
    rateLimiting,
    shardLimits,
    ordering,
    distributeByKey,
    orderBy,
    aggregation,
    onInvalidRecord,
    deadLetterStream,
    deadLetterTable,
    deliveryTimeout
  )
}
