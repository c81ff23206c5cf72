package org.sparkkinesis.aws.client

import scala.concurrent.duration._

import org.sparkkinesis.model.StreamRef

/**
 * Everything that decides which client talks to the service, and as whom. Equal settings share a client. It travels
 * from the driver to executors; its text holds no secret.
 *
 * @param region
 *   where empty, the AWS default chain is asked where the client is made
 * @param endpoint
 *   where empty, the region's own
 * @param maxConcurrency
 *   requests in flight, each with a connection of its own; subscriptions are not counted
 * @param requestTimeout
 *   for one request; subscriptions have none
 */
final case class ClientSettings(
    region: Option[String],
    endpoint: Option[String] = None,
    credentials: CredentialSettings = CredentialSettings.DefaultChain,
    maxConcurrency: Int = 256,
    requestTimeout: FiniteDuration = 30.seconds
) {

  /** For this stream: the region of its ARN is the only one that knows it. */
  def forStream(stream: StreamRef): ClientSettings = stream match {
    case arn: StreamRef.ByArn => copy(region = Some(arn.region))
    case _: StreamRef.ByName => this
  }
}

/** Where credentials come from. No text of any of these shows a secret. */
sealed trait CredentialSettings extends Serializable

object CredentialSettings {

  /** System properties, environment, web identity, profile, container, instance: as every AWS tool looks for them. */
  case object DefaultChain extends CredentialSettings

  /** Fixed ones; with a session token they are temporary. */
  final case class Static(accessKeyId: String, secretAccessKey: String, sessionToken: Option[String])
      extends CredentialSettings {
    override def toString: String = s"Static(${accessKeyId.take(4)}…, secrets redacted)"
  }

  /** A profile of the shared configuration files. */
  final case class Profile(name: String) extends CredentialSettings

  /**
   * A user's class, a `java.util.function.Supplier[java.util.Map[String, String]]` with a constructor without
   * parameters, that gives `accessKeyId`, `secretAccessKey` and maybe `sessionToken`. Asked again every few minutes.
   */
  final case class SuppliedBy(className: String) extends CredentialSettings

  /** A role, assumed with other credentials and assumed again before it expires. */
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
}
