package org.sparkkinesis.spark.write.route

import scala.concurrent.duration.FiniteDuration

import org.sparkkinesis.aws.client.ClientSettings
import org.sparkkinesis.config.value.RouterOption
import org.sparkkinesis.config.{MetadataOptions, Options, WriteOptions}
import org.sparkkinesis.metadata.{AllowList, MetadataDocument, PhysicalStream}
import org.sparkkinesis.sink.route.Routes
import org.sparkkinesis.spark.connection.Connection

/**
 * The routes of one write, which all of its tasks use from its beginning to its end. Contains credentials; `toString`
 * hides them.
 *
 * @param defaultId
 *   the logical stream of rows without a column for it
 * @param connections
 *   settings of the client of each physical stream, by ARN
 * @param mustBeOwn
 *   ARNs of the streams that must belong to the account of the query's own credentials
 * @param probeEvery
 *   pause before the first attempt to reach a stream that was left because of a failure
 * @param desk
 *   where executors ask for newer routes
 */
final case class RoutePlan(
    routes: Routes,
    router: RouterOption,
    defaultId: Option[String],
    connections: Map[String, ClientSettings],
    mustBeOwn: Set[String],
    probeEvery: FiniteDuration,
    desk: Option[RouteDesk.Address] = None
) {
  def description: String = s"version ${routes.version} of the metadata, " +
    routes.byId.toSeq.sortBy(_._1).map { case (id, streams) => s"$id = ${streams.map(_.arn).mkString(", ")}" }
      .mkString("; ")
}

object RoutePlan {

  /**
   * @throws KinesisConnectorException
   *   if the options of the connection are not valid
   */
  def of(options: Options, document: MetadataDocument, defaultId: Option[String]): RoutePlan = {
    val allowed = AllowList.of(options)
    val routes = Routes.of(document)
    RoutePlan(
      routes,
      options(WriteOptions.router),
      defaultId,
      routes.all.map(stream => stream.arn -> connection(options, stream)).toMap,
      routes.all.filter(allowed.mustBeOwn).map(_.arn).toSet,
      options(MetadataOptions.metadataRefreshInterval)
    )
  }

  private def connection(options: Options, stream: PhysicalStream): ClientSettings =
    Connection.clientSettings(options, Some(stream.stream), stream.endpoint, stream.role.map(_ -> stream.externalId))
}
