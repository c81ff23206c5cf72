package org.sparkkinesis.config

import java.util.regex.Pattern

import org.sparkkinesis.config.value.OptionType
import org.sparkkinesis.model.StreamRef

/** The options for the stream and the credentials. */
object ConnectionOptions {
  import OptionType._

  private def streams(what: String, expected: String, accept: StreamRef => Boolean): Parsed[Seq[StreamRef]] =
    Parsed[Seq[StreamRef]](expected, _.mkString(","), "str | Sequence[str]") { text =>
      val parts = text.split(",", -1).map(_.trim).toSeq
      val read = parts.map(part => part -> StreamRef.parse(part).filter(accept))
      read.collectFirst { case (part, None) => part } match {
        case Some(wrong) => Left(s"'$wrong' is not $what.")
        case None if parts.distinct.size < parts.size => Left("A stream is listed twice.")
        case None => Right(read.flatMap(_._2))
      }
    }

  val streamName: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "streamName",
    streams(
      "a stream name",
      "a stream name of 1 to 128 characters a-z, A-Z, 0-9, '_', '.', '-', or several separated by commas",
      _.arn.isEmpty
    ),
    Scope.Connection,
    "Name of the stream. A read accepts several names, separated by commas.",
    defaultDoc = "one of `streamName`, `streamARN` is required"
  )

  val streamARN: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "streamARN",
    streams(
      "a stream ARN",
      "a stream ARN such as arn:aws:kinesis:eu-central-1:123456789012:stream/orders, or several separated " +
        "by commas",
      _.arn.nonEmpty
    ),
    Scope.Connection,
    "ARN of the stream, which determines region and account. A read accepts several ARNs, separated by " +
      "commas."
  )

  val region: ConfigEntry[String] = ConfigEntry(
    "region",
    Matching(
      "the name of an AWS region such as eu-central-1",
      "[a-z]{2,}(-[a-z0-9]+)+-[0-9]+",
      "It does not have the form of a region's name."
    ),
    Scope.Connection,
    "AWS region of the stream.",
    defaultDoc = "the region of the ARN, otherwise of the AWS default chain"
  )

  val endpoint: ConfigEntry[String] = ConfigEntry(
    "endpoint",
    Matching(
      "an address such as https://kinesis.eu-central-1.amazonaws.com, or http://127.0.0.1:4567",
      "https?://[^\\s/@?#]+/?",
      "It is not of the form http(s)://host[:port].",
      _.stripSuffix("/")
    ),
    Scope.Connection,
    "Address of the service. Plain `http` is accepted for loopback addresses only, unless " +
      "`allowInsecureEndpoint` is set.",
    defaultDoc = "the endpoint of the region"
  )

  val allowInsecureEndpoint: ConfigEntry[Boolean] = ConfigEntry(
    "allowInsecureEndpoint",
    Flag,
    Scope.Connection,
    "Accept an `http` endpoint that is not a loopback address. Records and request signatures are then " +
      "sent without encryption.",
    default = Some("false"),
    declaredEffect = Some(Effect.Everywhere.withAny(
      Need("endpoint"),
      Need("endpoint.*"),
      Need("stsEndpoint"),
      Need("metadataService")
    ))
  )

  val awsAccessKey: ConfigEntry[String] = ConfigEntry(
    "awsAccessKey",
    Text,
    Scope.Connection,
    "Access key id of static credentials. It requires `awsSecretKey`.",
    defaultDoc = "the AWS default provider chain",
    sensitive = true
  )

  val awsSecretKey: ConfigEntry[String] = ConfigEntry(
    "awsSecretKey",
    Text,
    Scope.Connection,
    "Secret key of static credentials. It requires `awsAccessKey`.",
    sensitive = true
  )

  val sessionToken: ConfigEntry[String] =
    ConfigEntry(
      "sessionToken",
      Text,
      Scope.Connection,
      "Session token of temporary static credentials.",
      sensitive = true
    )

  val profile: ConfigEntry[String] =
    ConfigEntry(
      "profile",
      Text,
      Scope.Connection,
      "Profile in the shared AWS configuration files. Every executor must have these files."
    )

  /** The ARN of one role. */
  val role: OptionType[String] = Matching(
    "the ARN of a role such as arn:aws:iam::123456789012:role/reader",
    "arn:aws[^:]*:iam::[0-9]{12}:role/\\S+",
    "It is not the ARN of a role."
  )

  val roleArn: ConfigEntry[Seq[String]] = ConfigEntry(
    "roleArn",
    Parsed[Seq[String]](
      s"${role.expected}, or several separated by commas",
      _.mkString(","),
      "str | Sequence[str]"
    ) { text =>
      // The name of a role may have a comma.
      val parts = text.split(",\\s*(?=arn:)", -1).toSeq.map(_.trim)
      parts.map(role.parse).collectFirst { case Left(why) => why }.toLeft(parts)
    },
    Scope.Connection,
    "ARN of the role to assume with the other credentials. Of several roles, each is assumed with the credentials of " +
      "the one before it, and `roleExternalId` is for the last one."
  )

  val roleExternalId: ConfigEntry[String] =
    ConfigEntry(
      "roleExternalId",
      Text,
      Scope.Connection,
      "External id that the trust policy of the role requires.",
      sensitive = true,
      declaredEffect = Some(Effect.Everywhere.withAny(Need("roleArn"), Need("roleArn.*")))
    )

  val roleSessionName: ConfigEntry[String] = ConfigEntry(
    "roleSessionName",
    Matching(
      "2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-",
      "[a-zA-Z0-9_+=,.@-]{2,64}",
      "It is not a role session name."
    ),
    Scope.Connection,
    "Session name of the assumed role. CloudTrail shows it with each call.",
    defaultDoc = "`spark-kinesis-` and the id of the Spark application",
    declaredEffect = Some(Effect.Everywhere.withAny(Need("roleArn"), Need("roleArn.*"), Need("metadataAllowedRoles")))
  )

  val stsEndpoint: ConfigEntry[String] = ConfigEntry(
    "stsEndpoint",
    endpoint.kind,
    Scope.Connection,
    "Address of the Security Token Service that assumes the role. Plain `http` is accepted as for `endpoint`.",
    defaultDoc = "the endpoint of the region",
    declaredEffect = Some(Effect.Everywhere.withAny(Need("roleArn"), Need("roleArn.*"), Need("metadataAllowedRoles")))
  )

  val credentialsProvider: ConfigEntry[String] = ConfigEntry(
    "credentialsProvider",
    Matching("the name of a class", "[\\w.$]+", "It is not the name of a class."),
    Scope.Connection,
    "Class that provides credentials: a `java.util.function.Supplier<Map<String, String>>` with a " +
      "constructor without parameters. The map has `accessKeyId`, `secretAccessKey` and, for temporary " +
      "credentials, `sessionToken`. A class with options of its own is a `java.util.function.Function` from the map " +
      "of its options to this map."
  )

  val credentialsProviderOptions: ConfigEntry[String] = ConfigEntry(
    "credentialsProvider.*",
    Text,
    Scope.Connection,
    "Option of the class that `credentialsProvider` names: `credentialsProvider.path` is `path` in the map that the " +
      "class gets. The map ignores the case of names.",
    sensitive = true,
    placeholder = "name",
    declaredEffect = Some(Effect.Everywhere.withAny(Need("credentialsProvider")).copy(isMistakeWithout = true))
  )

  val streamPattern: ConfigEntry[Pattern] = ConfigEntry(
    "streamPattern",
    RegularExpression,
    Scope.Connection,
    "Regular expression for the names of the streams of the account and region, for reads only. A streaming query " +
      "lists the names again every `metadataRefreshInterval`: streams that match later join, and deleted ones leave.",
    declaredEffect = Some(Effect.OfReads)
  )

  /** Returns the streams that the options list, by name or ARN. */
  def namedStreams(options: Options): Seq[StreamRef] = Seq(streamName, streamARN).flatMap(options.get(_)).flatten

  val all: Seq[ConfigEntry[_]] = Seq(
    streamName,
    streamARN,
    streamPattern,
    region,
    endpoint,
    allowInsecureEndpoint,
    awsAccessKey,
    awsSecretKey,
    sessionToken,
    profile,
    roleArn,
    roleExternalId,
    roleSessionName,
    stsEndpoint,
    credentialsProvider,
    credentialsProviderOptions
  )
}
