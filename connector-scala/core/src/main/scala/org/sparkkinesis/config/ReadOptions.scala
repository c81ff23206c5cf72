package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.config.value.{ConsumerMode, OptionType, Registration, StreamPositions}
import org.sparkkinesis.model.KinesisQuotas

/** The options for reads. */
object ReadOptions {
  import OptionType._

  private val read = new Declaration(Scope.Read)

  val initialPosition: ConfigEntry[StreamPositions] = read(
    "initialPosition",
    StreamPositions.optionType,
    "Start position of a query without a checkpoint, and of streams that are added to `streamName` or `streamARN` " +
      "when a query restarts: `latest`, `trim_horizon` (or `earliest`), a time, a time before the first start, or a " +
      "JSON object with a position for each shard or for each stream. A time without a zone is in the session's time " +
      "zone.",
    defaultDoc = "`latest` for streams, `trim_horizon` for batch"
  )

  val endingPosition: ConfigEntry[StreamPositions] = read(
    "endingPosition",
    StreamPositions.optionType,
    "End position of a batch read: `latest` (the records that are in the stream when the query starts), a time, or a " +
      "JSON object with a position for each shard or for each stream, as in `initialPosition`. A record at the " +
      "position is the last one that is read.",
    default = "latest",
    effect = Effect.OfReads.of(QueryType.Batch)
  )

  val consumerMode: ConfigEntry[ConsumerMode] = read(
    "consumerMode",
    OneOf(ConsumerMode.all),
    "How records are fetched: `polling` calls GetRecords and shares 2 MiB/s per shard with other readers; " +
      "`efo` (enhanced fan-out) has 2 MiB/s per shard for this consumer, and the service pushes the " +
      "records.",
    default = "polling",
    effect = Effect.OfReads.streaming
  )

  val consumerName: ConfigEntry[String] = read(
    "consumerName",
    Matching(
      "1 to 128 characters of a-z, A-Z, 0-9, '_', '.', '-'",
      "[a-zA-Z0-9_.-]{1,128}",
      "It is not a consumer's name."
    ),
    "Name of the enhanced fan-out consumer to register or reuse. No other query may use it at the same time.",
    defaultDoc = "the id of the query, which its checkpoint keeps",
    effect = Effect.OfReads.fanOut.withAny(Need("registration", Seq("lazy")))
  )

  val consumerNamePrefix: ConfigEntry[String] = read(
    "consumerNamePrefix",
    Matching(
      "1 to 64 characters of a-z, A-Z, 0-9, '_', '.', '-'",
      "[a-zA-Z0-9_.-]{1,64}",
      "It is not the beginning of a consumer's name."
    ),
    "Text before `consumerName` in the name of the enhanced fan-out consumer, for example for a policy of IAM that " +
      "allows names by their beginning.",
    defaultDoc = "none",
    effect = Effect.OfReads.fanOut.withAny(Need("registration", Seq("lazy")))
  )

  private val consumerArnType: Matching = Matching(
    "the ARN of a stream consumer",
    "arn:aws[^:]*:kinesis:[^:]+:[0-9]{12}:stream/[^/\\s]+/consumer/[^:\\s]+:[0-9]+",
    "It is not the ARN of a stream consumer."
  )

  val consumerARN: ConfigEntry[String] = read(
    "consumerARN",
    consumerArnType,
    "ARN of an existing enhanced fan-out consumer. Set it with `registration=none`.",
    effect = Effect.OfReads.fanOut
  )

  val consumerARNOf: ConfigEntry[String] =
    read(
      "consumerARN.*",
      consumerArnType,
      "ARN of the consumer for one of several streams: `consumerARN.orders` for stream `orders`.",
      effect = Effect.OfReads.fanOut
    )

  private def ofStream[T](entry: ConfigEntry[T], doc: String): ConfigEntry[T] =
    ConfigEntry(s"${entry.key}.*", entry.kind, Scope.Connection, doc, sensitive = entry.sensitive)

  val regionOf: ConfigEntry[String] = ofStream(
    ConnectionOptions.region,
    "Region of one of several streams: `region.orders` for stream `orders`. Each option for one of " +
      "several streams also accepts the ARN of the stream instead of its name."
  )

  val endpointOf: ConfigEntry[String] =
    ofStream(ConnectionOptions.endpoint, "Address of the service for one of several streams: `endpoint.orders`.")

  val roleArnOf: ConfigEntry[Seq[String]] =
    ofStream(ConnectionOptions.roleArn, "ARN of the role to assume for one of several streams: `roleArn.orders`.")

  val roleExternalIdOf: ConfigEntry[String] = ofStream(
    ConnectionOptions.roleExternalId,
    "External id for the role of one of several streams: `roleExternalId.orders`."
  )

  /** Options that apply to one of several streams of a write. */
  val ofStreamOfWrite: Seq[ConfigEntry[_]] = Seq(regionOf, endpointOf, roleArnOf, roleExternalIdOf)

  /** Options that apply to one of several streams of a read. */
  val ofOneStream: Seq[ConfigEntry[_]] = consumerARNOf +: ofStreamOfWrite

  val registration: ConfigEntry[Registration] = read(
    "registration",
    OneOf(Registration.all),
    "Whether enhanced fan-out consumers are registered: `lazy` registers a consumer when the query starts, unless " +
      "it exists; `none` never registers one, and every stream needs a `consumerARN`.",
    default = "lazy",
    effect = Effect.OfReads.fanOut
  )

  /** Maximum time to wait until a consumer is active. No option sets it. */
  val ConsumerActivation: FiniteDuration = 5.minutes

  /** Maximum time in which a query deregisters its consumers. No option sets it. */
  val ConsumerDeregistration: FiniteDuration = 10.seconds

  val requireConsumerDeregistration: ConfigEntry[Boolean] =
    read(
      "requireConsumerDeregistration",
      Flag,
      "Deregister the consumers that this query registered when it stops.",
      default = "true",
      effect = Effect.OfReads.streaming
    )

  val maxRecordsPerTrigger: ConfigEntry[Long] =
    read(
      "maxRecordsPerTrigger",
      Whole(1, Long.MaxValue),
      "Maximum number of rows per micro-batch, with a fair share for each shard.",
      defaultDoc = "no limit",
      effect = Effect.OfReads.of(QueryType.ProcessingTime, QueryType.AvailableNow)
    )

  val maxBytesPerTrigger: ConfigEntry[Long] =
    read(
      "maxBytesPerTrigger",
      Bytes(1, Long.MaxValue),
      "Maximum number of bytes (payloads and keys) per micro-batch.",
      defaultDoc = "no limit",
      effect = Effect.OfReads.of(QueryType.ProcessingTime, QueryType.AvailableNow)
    )

  val minRecordsPerTrigger: ConfigEntry[Long] = read(
    "minRecordsPerTrigger",
    Whole(1, Long.MaxValue),
    "Minimum number of rows per micro-batch. A batch waits until this many rows have been fetched, " +
      "`maxTriggerDelay` has passed, or the prefetch buffer is full.",
    defaultDoc = "no minimum",
    effect = Effect.OfReads.of(QueryType.ProcessingTime)
  )

  val maxTriggerDelay: ConfigEntry[FiniteDuration] =
    read(
      "maxTriggerDelay",
      Duration(1.milli, 365.days),
      "Maximum time that a batch waits for `minRecordsPerTrigger`.",
      default = "15m",
      effect = Effect.OfReads.of(QueryType.ProcessingTime).withAny(Need("minRecordsPerTrigger"))
    )

  val alignShards: ConfigEntry[FiniteDuration] =
    read(
      "alignShards",
      Duration(4.millis, 365.days),
      "Maximum time between the arrival of the oldest record, of any shard, that a micro-batch leaves to later " +
        "batches and of the newest record that it takes. Shards that are ahead wait, so that a watermark does not " +
        "drop the rows of a shard that is behind. `Trigger.Once` ignores it.",
      defaultDoc = "shards are read independently",
      effect = Effect.OfReads.of(QueryType.ProcessingTime, QueryType.AvailableNow)
    )

  val maxRecordsPerFetch: ConfigEntry[Long] =
    read(
      "maxRecordsPerFetch",
      Whole(1, KinesisQuotas.Request.GetRecordsLimit.toLong),
      "Maximum number of records per GetRecords call.",
      default = KinesisQuotas.Request.GetRecordsLimit.toString
    )

  val minFetchPeriod: ConfigEntry[FiniteDuration] = read(
    "minFetchPeriod",
    Duration(0.millis, 1.hour),
    "Time between two GetRecords calls of a shard that has no more records to read.",
    default = "250ms"
  )

  val maxFetchesPerSecond: ConfigEntry[Double] = read(
    "maxFetchesPerSecond",
    Real(0.01, 100000),
    "Maximum number of GetRecords calls per second and shard while there are more records to read. The " +
      "quota of the service is 5, shared by all readers of a shard; only an emulator accepts more.",
    default = KinesisQuotas.Shard.GetRecordsPerSecond.toString
  )

  /** The part of an executor's heap that all reads without a `fetchBufferSize` share, in percent and bytes. */
  val SharedBufferPercent: Int = 25
  val SharedBufferMaxBytes: Long = 512L * KinesisQuotas.MiB

  /** The part of an executor's heap that one `fetchBufferSize` may have, in percent. */
  val MaxBufferPercent: Int = 50

  val fetchBufferSize: ConfigEntry[Long] = read(
    "fetchBufferSize",
    Bytes(KinesisQuotas.MiB.toLong, 1L << 40),
    s"Memory for the fetched records of this read in each executor, at most $MaxBufferPercent % of its heap.",
    defaultDoc =
      s"$SharedBufferPercent % of the executor's heap, at most ${Bytes.show(SharedBufferMaxBytes)}, " +
        "shared by all reads without a size of their own: half of it equally, the rest by need",
    effect = Effect.OfReads.streaming
  )

  val fetchDiskSize: ConfigEntry[Long] = read(
    "fetchDiskSize",
    Bytes(0, 1L << 40),
    "Maximum size of the local files of this read in each executor, in `spark.local.dir`. They contain the records " +
      "that are fetched while `fetchBufferSize` is full, until a batch has read them. At most half of the free space " +
      "is used. With 0, no record is written to a disk, and fetching waits while the buffer is full.",
    default = "32g",
    effect = Effect.OfReads.microBatch
  )

  val shardFetchInterval: ConfigEntry[FiniteDuration] = read(
    "shardFetchInterval",
    Duration(1.second, 1.hour),
    "Time between two listings of the shards. A reshard is detected at once, by the end of its parent " +
      "shards.",
    default = "10s",
    effect = Effect.OfReads.microBatch
  )

  val shardsPerTask: ConfigEntry[Long] =
    read(
      "shardsPerTask",
      Whole(1, 100000),
      "Number of shards that one task reads.",
      defaultDoc = "enough to spread the shards over all cores"
    )

  val endBatchEarly: ConfigEntry[Boolean] = read(
    "endBatchEarly",
    Flag,
    "In real-time mode, end a batch before its time when a child shard waits for parents that several tasks have " +
      "finished. With `false`, the child waits for the end of the batch. Set `false` if the query has a real-time " +
      "source of another kind, because Spark waits for its tasks.",
    default = "true",
    effect = Effect.OfReads.of(QueryType.RealTime)
  )

  val failOnDataLoss: ConfigEntry[Boolean] = read(
    "failOnDataLoss",
    Flag,
    "Fail the query when records may be lost: a position is older than the retention, a shard expired " +
      "before it was read or is missing from the listing, or the stream was recreated. With `false`, log a " +
      "warning and continue with the oldest record.",
    default = "true"
  )

  val deaggregation: ConfigEntry[Boolean] =
    read("deaggregation", Flag, "Unpack KPL aggregates into the records of the user.", default = "true")

  val deaggregationHashRangeFilter: ConfigEntry[Boolean] = read(
    "deaggregation.hashRangeFilter",
    Flag,
    "Drop and count the records of an aggregate whose hash key is outside the range of their shard. KCL " +
      "drops the whole aggregate.",
    default = "false",
    effect = Effect.OfReads.withAny(Need("deaggregation", Seq("true")))
  )

  val partitionKeyPruning: ConfigEntry[Boolean] = read(
    "partitionKeyPruning",
    Flag,
    "Read only the shards that the MD5 hashes of the partition keys in a filter select. Set it only if no producer " +
      "of the stream sets explicit hash keys or aggregates records, because such records may be in other shards.",
    default = "false",
    effect = Effect.OfReads.of(QueryType.Batch)
  )

  val all: Seq[ConfigEntry[_]] = Seq(
    initialPosition,
    endingPosition,
    consumerMode,
    consumerName,
    consumerNamePrefix,
    consumerARN,
    consumerARNOf,
    regionOf,
    endpointOf,
    roleArnOf,
    roleExternalIdOf,
    registration,
    requireConsumerDeregistration,
    maxRecordsPerTrigger,
    maxBytesPerTrigger,
    minRecordsPerTrigger,
    maxTriggerDelay,
    alignShards,
    maxRecordsPerFetch,
    minFetchPeriod,
    maxFetchesPerSecond,
    fetchBufferSize,
    fetchDiskSize,
    shardFetchInterval,
    shardsPerTask,
    endBatchEarly,
    failOnDataLoss,
    deaggregation,
    deaggregationHashRangeFilter,
    partitionKeyPruning
  )
}
