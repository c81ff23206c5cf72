package org.sparkkinesis.spark.settings

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}

/**
 * Connection of one stream that a query found while it was running. The coordinator sends it to the executors, which
 * have the query's own credentials already. `toString` hides the external id.
 *
 * @param region
 *   region of the stream
 * @param endpoint
 *   address of the service; without it the query's own applies
 * @param role
 *   the stream's own role
 * @param consumerArn
 *   the enhanced fan-out consumer
 */
final case class StreamConnection(
    region: String,
    endpoint: Option[String],
    role: Option[StreamConnection.Role],
    consumerArn: Option[String]
) {

  /** Returns the settings of the stream's client, from those of the query. */
  def client(base: ClientSettings): ClientSettings = base.copy(
    region = Some(region),
    endpoint = endpoint.orElse(base.endpoint),
    credentials = role.fold(base.credentials)(own =>
      CredentialSettings.AssumeRole(own.arn, own.sessionName, own.externalId, own.stsEndpoint, source(base.credentials))
    )
  )

  private def source(credentials: CredentialSettings): CredentialSettings = credentials match {
    case CredentialSettings.AssumeRole(_, _, _, _, base) => base
    case other => other
  }
}

object StreamConnection {
  final case class Role(arn: String, sessionName: String, externalId: Option[String], stsEndpoint: Option[String]) {
    override def toString: String = s"Role($arn, $sessionName)"
  }
}
