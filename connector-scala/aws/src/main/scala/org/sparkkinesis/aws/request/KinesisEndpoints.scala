package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.ConcurrentHashMap

import software.amazon.awssdk.awscore.endpoint.{DualstackEnabledProvider, FipsEnabledProvider}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.endpoints.{KinesisEndpointParams, KinesisEndpointProvider}

/**
 * Addresses of Kinesis' data plane by the SDK's endpoint rules, for calls that the SDK's client does not make.
 * Thread-safe.
 *
 * @param overridden
 *   the address of all calls, if it is set by an option, or as `AWS_ENDPOINT_URL_KINESIS` or `AWS_ENDPOINT_URL`
 */
final private[aws] class KinesisEndpoints(val region: Region, overridden: Option[URI]) {
  private val ofStreams = new ConcurrentHashMap[String, URI]

  // As the SDK's client reads them: system property, environment, profile.
  private val useFips = FipsEnabledProvider.builder().build().isFipsEnabled
  private val useDualStack = DualstackEnabledProvider.builder().build().isDualstackEnabled

  /**
   * Returns the address for records of a stream.
   *
   * @param arn
   *   ARN of the stream, if the request names it
   */
  def ofStream(arn: Option[String]): URI =
    overridden.getOrElse(ofStreams.computeIfAbsent(arn.getOrElse(""), _ => resolve(_.streamArn(arn.orNull))))

  def ofConsumer(consumerArn: String): URI = overridden.getOrElse(resolve(_.consumerArn(consumerArn)))

  private def resolve(of: KinesisEndpointParams.Builder => KinesisEndpointParams.Builder): URI = {
    val params = KinesisEndpointParams.builder().region(region).operationType("data")
    useFips.ifPresent { use => params.useFips(use); () }
    useDualStack.ifPresent { use => params.useDualStack(use); () }
    KinesisEndpointProvider.defaultProvider().resolveEndpoint(of(params).build()).join().endpointUrl().toUri
  }
}
