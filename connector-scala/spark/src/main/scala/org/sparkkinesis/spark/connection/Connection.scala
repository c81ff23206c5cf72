package org.sparkkinesis.spark.connection

import java.net.URI

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings, Regions}
import org.sparkkinesis.config.ConnectionOptions._
import org.sparkkinesis.config.value.Loopback
import org.sparkkinesis.config.{ConfigEntry, ConnectionOptions, MetadataOptions, NetworkOptions, Options, ReadOptions}
import org.sparkkinesis.error.{KinesisConnectorException, MetadataErrors, OptionErrors}
import org.sparkkinesis.metadata.{AllowList, PhysicalStream}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.spark.settings.StreamConnection

/** Streams, endpoint and credentials: reads the connection options and checks them against each other. */
object Connection {

  /**
   * Returns the streams that the options name, by name or ARN; empty with `streamPattern`.
   *
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING, KINESIS_OPTION_CONFLICT
   */
  def streams(options: Options): Seq[StreamRef] = {
    val ways = Seq[ConfigEntry[_]](streamName, streamARN, streamPattern).filter(options.isSet)
    if (ways.isEmpty)
      throw OptionErrors.missing(
        required = "one of 'streamName', 'streamARN', 'streamPattern'",
        reason = "No option names a stream.",
        fix = "Set 'streamName' to the name of the stream."
      )
    if (ways.size > 1) throw conflict(ways, "Each of them selects the streams.")
    options.get(streamName).orElse(options.get(streamARN)).getOrElse(Nil)
  }

  /**
   * Checks that every option for one of several streams names a stream that is read, or written.
   *
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_UNKNOWN, KINESIS_OPTION_CONFLICT
   */
  def checkStreams(
      options: Options,
      streams: Iterable[StreamRef],
      entries: Seq[ConfigEntry[_]] = ReadOptions.ofOneStream
  ): Unit = options.checkStreams(entries, streams)

  /**
   * @param stream
   *   the stream whose own options and region apply, and which the error names if no region is known
   * @throws KinesisConnectorException
   *   KINESIS_REGION_MISSING, KINESIS_OPTION_MISSING, KINESIS_OPTION_CONFLICT, KINESIS_OPTION_INVALID
   */
  def clientSettings(options: Options, stream: Option[StreamRef]): ClientSettings =
    clientSettings(options, stream, None, None)

  /**
   * @param address
   *   the endpoint of the stream, which takes precedence over the options
   * @param assumed
   *   the role for the stream and its external ID, which take precedence over the options
   */
  def clientSettings(
      options: Options,
      stream: Option[StreamRef],
      address: Option[String],
      assumed: Option[(String, Option[String])]
  ): ClientSettings = {
    def own[T](general: ConfigEntry[T], each: ConfigEntry[T]): Option[T] =
      stream.flatMap(options.ofStream(each, _)).orElse(options.get(general))
    val reached = address.orElse(own(endpoint, ReadOptions.endpointOf))
    reached.foreach(checkEndpoint(endpoint, _, options(allowInsecureEndpoint)))
    options.get(stsEndpoint).foreach(checkEndpoint(stsEndpoint, _, options(allowInsecureEndpoint)))
    val (roles, externalId) = assumed match {
      case Some((arn, ofRole)) => (Some(Seq(arn)), ofRole)
      case None => (own(roleArn, ReadOptions.roleArnOf), own(roleExternalId, ReadOptions.roleExternalIdOf))
    }
    val place = stream.flatMap(options.ofStream(ReadOptions.regionOf, _)).orElse(generalRegion(options))
    val settings =
      ClientSettings(
        place,
        reached,
        credentials(options, roles, externalId),
        NetworkOptions.of(options),
        CallingApplication.ofJvm.userAgent
      )
    val placed = stream.fold(settings)(settings.forStream)
    placed.copy(region = Some(Regions.resolve(placed, stream.fold("any")(_.name))))
  }

  /**
   * Returns the settings of the streams without options of their own. They have no region if neither the options nor
   * the AWS default chain give one; a stream with an ARN then has the region of its ARN.
   *
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING, KINESIS_OPTION_CONFLICT, KINESIS_OPTION_INVALID
   */
  def general(options: Options): ClientSettings = {
    val address = checkedEndpoint(options)
    val access = credentials(options, options.get(roleArn), options.get(roleExternalId))
    val settings =
      ClientSettings(
        generalRegion(options),
        address,
        access,
        NetworkOptions.of(options),
        CallingApplication.ofJvm.userAgent
      )
    settings.copy(region = Regions.find(settings))
  }

  /** The region of a stream without one of its own: that of the option, or of the ARN in the options. */
  private def generalRegion(options: Options): Option[String] = options.get(region).orElse {
    options.get(streamARN).toSeq.flatten.collect { case arn: StreamRef.ByArn => arn.region }.distinct match {
      case Seq(one) => Some(one)
      case _ => None
    }
  }

  private def checkedEndpoint(options: Options): Option[String] = {
    val address = options.get(endpoint)
    address.foreach(checkEndpoint(endpoint, _, options(allowInsecureEndpoint)))
    options.get(stsEndpoint).foreach(checkEndpoint(stsEndpoint, _, options(allowInsecureEndpoint)))
    address
  }

  /**
   * Returns the settings from which those of streams are made that join while the query is running.
   *
   * @param region
   *   the region if no option names one
   * @throws KinesisConnectorException
   *   KINESIS_OPTION_MISSING, KINESIS_OPTION_CONFLICT, KINESIS_OPTION_INVALID
   */
  def joining(options: Options, region: String): ClientSettings = {
    val address = checkedEndpoint(options)
    val access = credentials(options, options.get(roleArn), options.get(roleExternalId))
    ClientSettings(
      options.get(ConnectionOptions.region).orElse(Some(region)),
      address,
      access,
      NetworkOptions.of(options),
      CallingApplication.ofJvm.userAgent
    )
  }

  /**
   * Returns how a stream is reached that a metadata service names, or that matches the pattern. The document takes
   * precedence over the options for one of several streams, and these over the general ones. A role of the document has
   * no external ID but that of the document.
   *
   * The document may be that of an earlier run, whose options allowed more.
   *
   * @throws KinesisConnectorException
   *   KINESIS_METADATA_FORBIDDEN, KINESIS_OPTION_INVALID for an endpoint without encryption
   */
  def of(options: Options, stream: PhysicalStream, consumerArn: Option[String]): StreamConnection = {
    if (options.isSet(MetadataOptions.streamId) || options.isSet(MetadataOptions.streamIdPattern))
      AllowList.of(options).violation(stream).foreach { found =>
        throw MetadataErrors.forbidden(stream = found.arn, reason = found.reason, option = found.option)
      }
    val address = stream.endpoint.orElse(options.ofStream(ReadOptions.endpointOf, stream.stream))
    address.foreach(checkEndpoint(endpoint, _, options(allowInsecureEndpoint)))
    val ownRoles = options.ofStream(ReadOptions.roleArnOf, stream.stream)
    val ownId = options.ofStream(ReadOptions.roleExternalIdOf, stream.stream)
    val role = stream.role.map(arn => (Seq(arn), stream.externalId)).orElse(
      Option.when(ownRoles.nonEmpty || ownId.nonEmpty)(ownRoles.orElse(options.get(roleArn))).flatten
        .map(arns => (arns, ownId.orElse(options.get(roleExternalId))))
    )
    StreamConnection(
      stream.stream.region,
      address,
      role.map { case (arns, externalId) =>
        StreamConnection.Role(arns, sessionName(options), externalId, options.get(stsEndpoint))
      },
      consumerArn
    )
  }

  private def credentials(
      options: Options,
      roles: Option[Seq[String]],
      externalId: Option[String]
  ): CredentialSettings = {
    val hasStatic = Seq[ConfigEntry[_]](awsAccessKey, awsSecretKey, sessionToken).exists(options.isSet)
    val sources = Seq(
      Option.when(hasStatic)(awsAccessKey -> static(options)),
      options.get(profile).map(name => profile -> CredentialSettings.Profile(name)),
      options.get(credentialsProvider).map(name =>
        credentialsProvider -> CredentialSettings.SuppliedBy(name, options.withPrefix(credentialsProviderOptions))
      )
    ).flatten
    if (sources.size > 1) throw conflict(sources.map(_._1), "Each of them selects a source of credentials.")
    val first = sources.headOption.fold[CredentialSettings](CredentialSettings.DefaultChain)(_._2)
    CredentialSettings.assuming(
      roles.getOrElse(Nil),
      sessionName(options),
      externalId,
      options.get(stsEndpoint),
      first
    )
  }

  /** The name of the option, else one that names the application. */
  private def sessionName(options: Options): String =
    options.get(roleSessionName).getOrElse(CallingApplication.ofJvm.sessionName)

  private def static(options: Options): CredentialSettings =
    options.get(awsAccessKey).zip(options.get(awsSecretKey)) match {
      case Some((key, secret)) => CredentialSettings.Static(key, secret, options.get(sessionToken))
      case None =>
        throw OptionErrors.missing(
          required = "both of 'awsAccessKey' and 'awsSecretKey'",
          reason = "Only a part of the static credentials is set.",
          fix = "Set both, or neither to use the AWS default provider chain."
        )
    }

  private def checkEndpoint(option: ConfigEntry[String], address: String, allowInsecure: Boolean): Unit = {
    val uri = URI.create(address)
    if (uri.getScheme == "http" && !allowInsecure && !Loopback.isHost(uri.getHost))
      throw OptionErrors.invalid(
        option = option.key,
        value = address,
        reason = "Plain http to another host sends records, credentials and request signatures in the clear.",
        expected = "an https address, or set 'allowInsecureEndpoint' to true"
      )
  }

  private def conflict(entries: Seq[ConfigEntry[_]], reason: String): KinesisConnectorException =
    OptionErrors.conflict(
      options = entries.map(entry => s"'${entry.key}'").mkString(" and "),
      reason = reason,
      fix = "Keep one of them."
    )
}
