package org.sparkkinesis.config

import java.util.regex.Pattern

import org.sparkkinesis.model.StreamRef

/** Which stream, as whom. */
object ConnectionOptions {
  import OptionType._

  private def streams(expected: String, accept: StreamRef => Boolean): Parsed[Seq[StreamRef]] =
    Parsed[Seq[StreamRef]](expected, _.mkString(","), "str | Sequence[str]") { text =>
      val parts = text.split(",", -1).map(_.trim).toSeq
      val read = parts.map(part => part -> StreamRef.parse(part).filter(accept))
      read.collectFirst { case (part, None) => part } match {
        case Some(wrong) => Left(s"'$wrong' is not one.")
        case None if parts.distinct.size < parts.size => Left("A stream is named twice.")
        case None => Right(read.flatMap(_._2))
      }
    }

  val streamName: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "streamName",
    streams(
      "a stream name of 1 to 128 characters a-z, A-Z, 0-9, '_', '.', '-', or several with commas between",
      _.arn.isEmpty
    ),
    Scope.Connection,
    "Name of the stream, or several names with commas between them (reading only).",
    defaultDoc = "one of `streamName`, `streamARN` is required"
  )

  val streamARN: ConfigEntry[Seq[StreamRef]] = ConfigEntry(
    "streamARN",
    streams(
      "a stream ARN such as arn:aws:kinesis:eu-central-1:123456789012:stream/orders, or several with commas between",
      _.arn.nonEmpty
    ),
    Scope.Connection,
    "ARN of the stream, or several ARNs with commas between them (reading only); region and account come from it."
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
    defaultDoc = "from the ARN, else from the AWS default chain"
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
    "Address of the service. Plain `http` is taken on loopback only, unless `allowInsecureEndpoint` is set.",
    defaultDoc = "the region's own"
  )

  val allowInsecureEndpoint: ConfigEntry[Boolean] = ConfigEntry(
    "allowInsecureEndpoint",
    Flag,
    Scope.Connection,
    "Take an `http` endpoint that is not on loopback: records and credentials' signatures then travel in the clear.",
    default = Some("false")
  )

  val awsAccessKey: ConfigEntry[String] = ConfigEntry(
    "awsAccessKey",
    Text,
    Scope.Connection,
    "Access key id of static credentials; with `awsSecretKey`.",
    defaultDoc = "the AWS default provider chain",
    sensitive = true
  )

  val awsSecretKey: ConfigEntry[String] = ConfigEntry(
    "awsSecretKey",
    Text,
    Scope.Connection,
    "Secret key of static credentials.",
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
      "Profile of the shared AWS configuration files, which every executor must have."
    )

  val roleArn: ConfigEntry[String] = ConfigEntry(
    "roleArn",
    Matching(
      "the ARN of a role such as arn:aws:iam::123456789012:role/reader",
      "arn:aws[^:]*:iam::[0-9]{12}:role/\\S+",
      "It is not the ARN of a role."
    ),
    Scope.Connection,
    "Role to assume with the other credentials."
  )

  val roleExternalId: ConfigEntry[String] =
    ConfigEntry("roleExternalId", Text, Scope.Connection, "External id that the role's trust policy asks for.")

  val roleSessionName: ConfigEntry[String] = ConfigEntry(
    "roleSessionName",
    Matching(
      "2 to 64 characters of a-z, A-Z, 0-9 and _+=,.@-",
      "[a-zA-Z0-9_+=,.@-]{2,64}",
      "It is not a role session name."
    ),
    Scope.Connection,
    "Session name under which the role is assumed.",
    default = Some("spark-kinesis")
  )

  val stsEndpoint: ConfigEntry[String] = ConfigEntry(
    "stsEndpoint",
    endpoint.kind,
    Scope.Connection,
    "Address of the Security Token Service that the role is assumed at.",
    defaultDoc = "the region's own"
  )

  val credentialsProvider: ConfigEntry[String] = ConfigEntry(
    "credentialsProvider",
    Matching("the name of a class", "[\\w.$]+", "It is not the name of a class."),
    Scope.Connection,
    "Class that gives credentials: a `java.util.function.Supplier<Map<String, String>>` with a constructor without parameters, " +
      "whose map has `accessKeyId`, `secretAccessKey` and, where they are temporary, `sessionToken`."
  )

  val streamPattern: ConfigEntry[Pattern] = ConfigEntry(
    "streamPattern",
    RegularExpression,
    Scope.Connection,
    "Regular expression over the names of all streams of the account and region; looked up once, when the query starts (reading only)."
  )

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
    credentialsProvider
  )
}
