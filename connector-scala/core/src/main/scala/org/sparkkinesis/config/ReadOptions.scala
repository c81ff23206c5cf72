package org.sparkkinesis.config

import scala.concurrent.duration._

import org.sparkkinesis.model.KinesisQuotas

/** How a stream is read. */
object ReadOptions {
  import OptionType._

  private val read = new Declaration(Scope.Read)

  val initialPosition: ConfigEntry[PositionOption] = read(
    "initialPosition",
    PositionOption.optionType,
    "Where a query without a checkpoint begins: `latest`, `trim_horizon` (or `earliest`), an ISO-8601 instant, " +
      "`{\"at_timestamp\": \"…\", \"format\": \"…\"}`, or a JSON object with a position for each shard.",
    defaultDoc = "`latest` for streams, `trim_horizon` for batch"
  )

  val endingPosition: ConfigEntry[PositionOption] = read(
    "endingPosition",
    PositionOption.optionType,
    "Batch only. Where the read ends: `latest` (what is there when the query starts), an instant, or a JSON object with a position for each shard; " +
      "a record at the position is the last one read.",
    default = "latest"
  )

  val consumerMode: ConfigEntry[ConsumerMode] = read(
    "consumerMode",
    OneOf(ConsumerMode.all),
    "How records are fetched: `polling` (GetRecords, shares 2 MiB/s a shard with other readers) or `efo` (enhanced fan-out, 2 MiB/s a shard of its own, pushed).",
    default = "polling"
  )

  val consumerName: ConfigEntry[String] = read(
    "consumerName",
    Matching(
      "1 to 128 characters of a-z, A-Z, 0-9, '_', '.', '-'",
      "[a-zA-Z0-9_.-]{1,128}",
      "It is not a consumer's name."
    ),
    "Name of the enhanced fan-out consumer to register or use.",
    defaultDoc = "required for `efo` unless a consumer ARN is given"
  )

  private val consumerArnType: Matching = Matching(
    "the ARN of a stream consumer",
    "arn:aws[^:]*:kinesis:[^:]+:[0-9]{12}:stream/[^/\\s]+/consumer/[^:\\s]+:[0-9]+",
    "It is not the ARN of a stream consumer."
  )

  val consumerARN: ConfigEntry[String] = read(
    "consumerARN",
    consumerArnType,
    "An existing enhanced fan-out consumer; with `registration=none`."
  )

  val consumerARNOf: ConfigEntry[String] =
    read(
      "consumerARN.*",
      consumerArnType,
      "The same for one of several streams: `consumerARN.orders` for stream `orders`."
    )

  private def ofStream[T](entry: ConfigEntry[T], doc: String): ConfigEntry[T] = read(s"${entry.key}.*", entry.kind, doc)

  val regionOf: ConfigEntry[String] = ofStream(
    ConnectionOptions.region,
    "The region of one of several streams: `region.orders` for stream `orders`. Here, as in the other options for one of " +
      "several streams, the stream's ARN may stand for its name."
  )

  val endpointOf: ConfigEntry[String] =
    ofStream(ConnectionOptions.endpoint, "The address of the service for one of several streams: `endpoint.orders`.")

  val roleArnOf: ConfigEntry[String] =
    ofStream(ConnectionOptions.roleArn, "The role to assume for one of several streams: `roleArn.orders`.")

  val roleExternalIdOf: ConfigEntry[String] = ofStream(
    ConnectionOptions.roleExternalId,
    "The external id with which the role of one of several streams is assumed: `roleExternalId.orders`."
  )

  /** Each holds for one of several streams. */
  val ofOneStream: Seq[ConfigEntry[String]] = Seq(consumerARNOf, regionOf, endpointOf, roleArnOf, roleExternalIdOf)

  val registration: ConfigEntry[Registration] = read(
    "registration",
    OneOf(Registration.all),
    "When the enhanced fan-out consumer is registered: when the query starts, when the source is created, or never.",
    default = "lazy"
  )

  val requireConsumerDeregistration: ConfigEntry[Boolean] =
    read(
      "requireConsumerDeregistration",
      Flag,
      "Deregister at stop the consumers that this query registered.",
      default = "true"
    )

  val maxRecordsPerTrigger: ConfigEntry[Long] =
    read(
      "maxRecordsPerTrigger",
      Whole(1, Long.MaxValue),
      "Most rows of one micro-batch, shared fairly over the shards.",
      defaultDoc = "no limit"
    )

  val maxBytesPerTrigger: ConfigEntry[Long] =
    read(
      "maxBytesPerTrigger",
      Bytes(1, Long.MaxValue),
      "Most bytes (payload and key) of one micro-batch.",
      defaultDoc = "no limit"
    )

  val minRecordsPerTrigger: ConfigEntry[Long] = read(
    "minRecordsPerTrigger",
    Whole(1, Long.MaxValue),
    "Wait until this many rows are there, or `maxTriggerDelay` has passed, or the prefetch buffer is full.",
    defaultDoc = "no minimum"
  )

  val maxTriggerDelay: ConfigEntry[FiniteDuration] =
    read("maxTriggerDelay", Duration(1.milli, 365.days), "Longest wait for `minRecordsPerTrigger`.", default = "15m")

  val maxRecordsPerFetch: ConfigEntry[Long] =
    read(
      "maxRecordsPerFetch",
      Whole(1, KinesisQuotas.Request.GetRecordsLimit.toLong),
      "`Limit` of one GetRecords call.",
      default = KinesisQuotas.Request.GetRecordsLimit.toString
    )

  val minFetchPeriod: ConfigEntry[FiniteDuration] = read(
    "minFetchPeriod",
    Duration(0.millis, 1.hour),
    "Time between two GetRecords calls of one shard whose tip has been reached.",
    default = "250ms"
  )

  val maxFetchesPerSecond: ConfigEntry[Double] = read(
    "maxFetchesPerSecond",
    Real(0.01, 100000),
    "Most GetRecords calls per second and shard while records are behind. The service's quota is 5, shared by all readers of a shard; only an emulator takes more.",
    default = KinesisQuotas.Shard.GetRecordsPerSecond.toString
  )

  val fetchBufferSize: ConfigEntry[Long] = read(
    "fetchBufferSize",
    Bytes(KinesisQuotas.MiB.toLong, 1L << 40),
    "Memory for fetched records of this read in each executor.",
    defaultDoc =
      "an equal part of 25 % of the executor's heap, at most 512m, shared by all reads without a size of their own"
  )

  val shardFetchInterval: ConfigEntry[FiniteDuration] = read(
    "shardFetchInterval",
    Duration(1.second, 1.day),
    "Time between two listings of the shards. A reshard is noticed at once, by the end of its parent shards.",
    default = "10s"
  )

  val shardsPerTask: ConfigEntry[Long] =
    read(
      "shardsPerTask",
      Whole(1, 100000),
      "How many shards one task reads.",
      defaultDoc = "as many as spread the shards over all cores"
    )

  val failOnDataLoss: ConfigEntry[Boolean] = read(
    "failOnDataLoss",
    Flag,
    "End the query when records may be lost (position out of retention, shard gone unread or missing from the listing, stream made again); otherwise warn and go on with the oldest record.",
    default = "true"
  )

  val deaggregation: ConfigEntry[Boolean] =
    read("deaggregation", Flag, "Take KPL aggregates apart into the user's records.", default = "true")

  val deaggregationHashRangeFilter: ConfigEntry[Boolean] = read(
    "deaggregation.hashRangeFilter",
    Flag,
    "Leave out records of an aggregate whose hash key is outside of their shard's range; they are counted. KCL leaves out the whole aggregate.",
    default = "false"
  )

  val all: Seq[ConfigEntry[_]] = Seq(
    initialPosition,
    endingPosition,
    consumerMode,
    consumerName,
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
    maxRecordsPerFetch,
    minFetchPeriod,
    maxFetchesPerSecond,
    fetchBufferSize,
    shardFetchInterval,
    shardsPerTask,
    failOnDataLoss,
    deaggregation,
    deaggregationHashRangeFilter
  )
}
