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
      CredentialSettings.assuming(
        own.arns,
        own.sessionName,
        own.externalId,
        own.stsEndpoint,
        CredentialSettings.firstOf(base.credentials)
      )
    )
  )
}

object StreamConnection {

  /**
   * @param arns
   *   the roles, of which each is assumed with the credentials of the one before it
   * @param externalId
   *   for the last role
   */
  final case class Role(
      arns: Seq[String],
      sessionName: String,
      externalId: Option[String],
      stsEndpoint: Option[String]
  ) {
    override def toString: String = s"Role(${arns.mkString(", ")}, $sessionName)"
  }
}
