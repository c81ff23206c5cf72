package org.sparkkinesis.config

import java.util.regex.Pattern

import scala.concurrent.duration._

import org.sparkkinesis.config.value.{MetadataAddress, OnForbidden, OnStreamRemoved, OptionType, PositionOption}

/** The options for logical streams, whose physical streams a metadata service names. */
object MetadataOptions {
  import OptionType._

  private val both = new Declaration(Scope.Connection)
  private val read = new Declaration(Scope.Read)

  private def list(what: String, expected: String, form: String): Parsed[Seq[String]] =
    Parsed[Seq[String]](s"$expected, or several separated by commas", _.mkString(","), "str | Sequence[str]") { text =>
      val parts = text.split(",", -1).map(_.trim).toSeq
      parts.find(!_.matches(form)).map(wrong => s"'$wrong' is not $what.").toLeft(parts.distinct)
    }

  val streamId: ConfigEntry[Seq[String]] = both(
    "streamId",
    list("the id of a logical stream", "the id of a logical stream", "[^,\\s][^,]*"),
    "Id of the logical stream, whose physical streams `metadataService` names. A read accepts several ids, separated " +
      "by commas, and so does a write whose rows have a column `streamId`."
  )

  val streamIdPattern: ConfigEntry[Pattern] = both(
    "streamIdPattern",
    RegularExpression,
    "Regular expression for the ids of logical streams, for reads only.",
    effect = Effect.OfReads
  )

  val metadataService: ConfigEntry[MetadataAddress] = both(
    "metadataService",
    MetadataAddress.optionType,
    "Service that names the physical streams of a logical stream: `file:` and a path of any file system of Spark, an " +
      "`https://` address, or `class:` and the name of a `java.util.function.Function<Collection<String>, String>` " +
      "from ids to the text of the document, with a constructor without parameters.",
    defaultDoc = "required with `streamId` and `streamIdPattern`",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val metadataToken: ConfigEntry[String] = both(
    "metadataToken",
    Matching("a bearer token", "[A-Za-z0-9._~+/=-]+", "It is not a bearer token."),
    "Bearer token for the requests to an `https://` metadata service.",
    defaultDoc = "no authentication",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  ).copy(sensitive = true)

  val metadataRefreshInterval: ConfigEntry[FiniteDuration] = both(
    "metadataRefreshInterval",
    Duration(1.second, 1.day),
    "Time between two requests to the metadata service, or two listings of the names for `streamPattern`, which " +
      "varies by up to 10 %.",
    default = "60s",
    effect = Effect.Everywhere.streaming.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val metadataStartTimeout: ConfigEntry[FiniteDuration] = both(
    "metadataStartTimeout",
    Duration(1.second, 1.hour),
    "Time for which the first start of a query waits for the metadata service, or for the streams of " +
      "`streamPattern`. A query with a checkpoint does not wait.",
    default = "30s",
    effect = Effect.Everywhere.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val metadataMaxAge: ConfigEntry[FiniteDuration] = both(
    "metadataMaxAge",
    Duration(1.second, 365.days),
    "Maximum age of the last valid answer of the metadata service, or of the last listing of the streams of " +
      "`streamPattern`. An older one fails the query.",
    defaultDoc = "no maximum: an outage of the metadata service never fails a running query",
    effect = Effect.Everywhere.streaming.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val metadataAllowRollback: ConfigEntry[Boolean] = both(
    "metadataAllowRollback",
    Flag,
    "Accept a document with a lower version than the last one.",
    default = "false",
    effect = Effect.Everywhere.streaming.streams(StreamSelection.Logical)
  )

  val metadataAllowedAccounts: ConfigEntry[Seq[String]] = both(
    "metadataAllowedAccounts",
    list("an account id of 12 digits", "an account id of 12 digits", "[0-9]{12}"),
    "Accounts of the streams that the metadata service may name. The accounts of `roleArn` and " +
      "`metadataAllowedRoles` are added.",
    defaultDoc = "the account of the query's own credentials",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val metadataAllowedRegions: ConfigEntry[Seq[String]] = both(
    "metadataAllowedRegions",
    list("the name of an AWS region", "the name of an AWS region", "[a-z]{2,}(-[a-z0-9]+)+-[0-9]+"),
    "Regions of the streams that the metadata service may name.",
    defaultDoc = "any region",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val metadataAllowedRoles: ConfigEntry[Seq[String]] = both(
    "metadataAllowedRoles",
    list(
      "the ARN of a role",
      "the ARN of a role, in which `*` stands for any text",
      "arn:aws[^:]*:iam::[^:,\\s]+:role/\\S+"
    ),
    "Roles that the metadata service may name. `*` stands for any text.",
    defaultDoc = "none",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val metadataAllowedEndpoints: ConfigEntry[Seq[String]] = both(
    "metadataAllowedEndpoints",
    list(
      "an endpoint",
      "an address such as https://vpce-0a1b.kinesis.eu-central-1.vpce.amazonaws.com",
      "https?://[^,\\s]+"
    ),
    "Endpoints that the metadata service may name, in addition to the endpoint of the region and to `endpoint`. `*` " +
      "stands for any text.",
    defaultDoc = "none",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val onForbidden: ConfigEntry[OnForbidden] = both(
    "onForbidden",
    OneOf(OnForbidden.all),
    "What happens when the metadata service names a stream that is not allowed: `skip` logs and counts it, `fail` " +
      "fails the query.",
    default = "skip",
    effect = Effect.Everywhere.streams(StreamSelection.Logical)
  )

  val newStreamPosition: ConfigEntry[PositionOption] = read(
    "newStreamPosition",
    PositionOption.optionType,
    "Position from which a running query reads a stream that is added, unless the metadata service names one, and " +
      "a stream that is created later and matches `streamPattern`.",
    default = "trim_horizon",
    effect = Effect.OfReads.streaming.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val onStreamRemoved: ConfigEntry[OnStreamRemoved] = read(
    "onStreamRemoved",
    OneOf(OnStreamRemoved.all),
    "What happens when the metadata service does not name a stream any more: `drain` reads the records that it has, " +
      "`park` stops at once and keeps the position, `fail` fails the query.",
    default = "drain",
    effect = Effect.OfReads.microBatch.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val drainGrace: ConfigEntry[FiniteDuration] = read(
    "drainGrace",
    Duration(0.millis, 7.days),
    "Time for which a removed stream is still read, for writers that do not know of the removal yet.",
    default = "10m",
    effect = Effect.OfReads.microBatch.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val drainTimeout: ConfigEntry[FiniteDuration] = read(
    "drainTimeout",
    Duration(1.second, 365.days),
    "Maximum time for which a removed stream is drained. After it the stream is parked with a warning, and read on " +
      "from there if it comes back.",
    default = "1h",
    effect = Effect.OfReads.microBatch.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val removedStreamRetention: ConfigEntry[FiniteDuration] = read(
    "removedStreamRetention",
    Duration(1.minute, 3650.days),
    "Time for which the position of a parked stream is kept.",
    default = "7d",
    effect = Effect.OfReads.microBatch.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  val removalConfirmations: ConfigEntry[Long] = read(
    "removalConfirmations",
    Whole(1, 1000),
    "Number of answers in a row that must lack a stream before it counts as removed.",
    default = "2",
    effect = Effect.OfReads.microBatch.streams(StreamSelection.Pattern, StreamSelection.Logical)
  )

  /** Whether the options of a read or write name logical streams. */
  def nameLogicalStreams(options: Options): Boolean = options.isSet(streamId) || options.isSet(streamIdPattern)

  val all: Seq[ConfigEntry[_]] = Seq(
    streamId,
    streamIdPattern,
    metadataService,
    metadataToken,
    metadataRefreshInterval,
    metadataStartTimeout,
    metadataMaxAge,
    metadataAllowRollback,
    metadataAllowedAccounts,
    metadataAllowedRegions,
    metadataAllowedRoles,
    metadataAllowedEndpoints,
    onForbidden,
    newStreamPosition,
    onStreamRemoved,
    drainGrace,
    drainTimeout,
    removedStreamRetention,
    removalConfirmations
  )
}
