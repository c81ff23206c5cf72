package org.sparkkinesis.aws.client

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.network.Network

/**
 * Settings of one client: endpoint, credentials and network. Equal settings share a client. Immutable and
 * serializable, so that the driver can send it to executors. `toString` contains no secret.
 *
 * @param region
 *   AWS region; if empty, the AWS default chain provides it when the client is created
 * @param endpoint
 *   URL of the endpoint; if empty, the endpoint of the region
 * @param caller
 *   names the application in the `User-Agent` of each call
 */
final case class ClientSettings(
    region: Option[String],
    endpoint: Option[String],
    credentials: CredentialSettings,
    network: Network,
    caller: String
) {

  /**
   * Returns these settings for `stream`. The region of a stream ARN replaces the configured region, because only that
   * region has the stream.
   */
  def forStream(stream: StreamRef): ClientSettings = stream match {
    case arn: StreamRef.ByArn => copy(region = Some(arn.region))
    case _: StreamRef.ByName => this
  }
}

object ClientSettings {

  /** Returns settings for the network without any option, and without an application. */
  def of(region: Option[String], endpoint: Option[String], credentials: CredentialSettings): ClientSettings =
    ClientSettings(region, endpoint, credentials, Network.Standard, "spark-kinesis")
}

/** Source of the credentials. The `toString` of every source hides its secrets. */
sealed trait CredentialSettings extends Serializable {

  /** The secrets in these settings. */
  def secrets: Seq[String] = this match {
    case CredentialSettings.Static(accessKeyId, secretAccessKey, sessionToken) =>
      Seq(accessKeyId, secretAccessKey) ++ sessionToken
    case role: CredentialSettings.AssumeRole => role.externalId.toSeq ++ role.base.secrets
    case _ => Nil
  }
}

object CredentialSettings {

  /** The AWS default chain: system properties, environment, web identity, profile, container and instance. */
  case object DefaultChain extends CredentialSettings

  /** Fixed credentials. They are temporary if they have a session token. */
  final case class Static(accessKeyId: String, secretAccessKey: String, sessionToken: Option[String])
      extends CredentialSettings {
    override def toString: String = s"Static(${accessKeyId.take(4)}…, secrets redacted)"
  }

  /** A profile of the shared AWS configuration files. */
  final case class Profile(name: String) extends CredentialSettings

  /**
   * A class of the user that implements `java.util.function.Supplier[java.util.Map[String, String]]`, or
   * `java.util.function.Function` from the map of its options to such a map, and has a constructor without parameters.
   * The map contains `accessKeyId`, `secretAccessKey` and, for temporary credentials, `sessionToken`. The connector
   * calls the object again after five minutes.
   */
  final case class SuppliedBy(className: String, options: Map[String, String] = Map.empty) extends CredentialSettings {
    override def toString: String = {
      val names = options.keys.toSeq.sorted.mkString(", ")
      if (names.isEmpty) s"SuppliedBy($className)" else s"SuppliedBy($className, values of $names redacted)"
    }
  }

  /**
   * An IAM role. The connector assumes it with the credentials of `base`, and assumes it again before the session
   * expires.
   */
  final case class AssumeRole(
      roleArn: String,
      sessionName: String,
      externalId: Option[String],
      stsEndpoint: Option[String],
      base: CredentialSettings
  ) extends CredentialSettings {
    override def toString: String =
      s"AssumeRole($roleArn, $sessionName, ${externalId.fold("no external id")(_ => "external id redacted")}, $base)"
  }

  /**
   * Returns the credentials of a chain of roles, of which each is assumed with the credentials of the one before it.
   *
   * @param externalId
   *   for the last role; other accounts do not get it
   */
  def assuming(
      roles: Seq[String],
      sessionName: String,
      externalId: Option[String],
      stsEndpoint: Option[String],
      first: CredentialSettings
  ): CredentialSettings = roles.zipWithIndex.foldLeft(first) { case (base, (role, index)) =>
    AssumeRole(role, sessionName, externalId.filter(_ => index == roles.size - 1), stsEndpoint, base)
  }

  /** The credentials with which the first role is assumed. */
  @scala.annotation.tailrec
  def firstOf(settings: CredentialSettings): CredentialSettings = settings match {
    case role: AssumeRole => firstOf(role.base)
    case other => other
  }
}
