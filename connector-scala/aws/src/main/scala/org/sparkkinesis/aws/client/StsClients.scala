package org.sparkkinesis.aws.client

import java.net.URI

import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration
import software.amazon.awssdk.http.SdkHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.sts.StsClient

import org.sparkkinesis.aws.request.EndpointSettings

/** Clients of the Security Token Service. */
private[client] object StsClients {

  /**
   * Creates a client, which the caller closes.
   *
   * @param configured
   *   address that an option sets
   * @param base
   *   credentials of the caller
   * @param region
   *   region of the stream, which counts if the address names none
   * @param http
   *   not owned
   * @param more
   *   further settings of the SDK
   */
  def client(
      configured: Option[String],
      base: AwsCredentialsProvider,
      region: Region,
      http: SdkHttpClient
  )(more: ClientOverrideConfiguration.Builder => Unit): StsClient = {
    val endpoint = new EndpointSettings("Sts", configured.map(URI.create), None).overridden
    val settings = ClientOverrideConfiguration.builder()
    more(settings)
    val builder = StsClient.builder()
      .region(signingRegion(endpoint, region))
      .credentialsProvider(base)
      .httpClient(http)
      .overrideConfiguration(settings.build())
    endpoint.foreach(builder.endpointOverride)
    builder.build()
  }

  /**
   * The region for which calls are signed. STS refuses a signature for another region than its own, so that of the
   * stream would be wrong for the global address, or for one of another region.
   */
  private[client] def signingRegion(endpoint: Option[URI], stream: Region): Region =
    endpoint.flatMap(address => Option(address.getHost)).flatMap {
      case Global() => Some(Region.US_EAST_1)
      case Regional(region) => Some(Region.of(region))
      case _ => None
    }.getOrElse(stream)

  private val Global = """(?i)sts\.amazonaws\.com\.?""".r

  /** Also FIPS, dual-stack, and the names of a VPC endpoint. */
  private val Regional = """(?i)(?:.+\.)?sts(?:-fips)?\.([a-z]{2,}(?:-[a-z0-9]+)+-\d+)\.(?:.+\.)?[a-z-]+\.[a-z.]+""".r
}
