package org.sparkkinesis.aws.request

import java.net.URI
import java.util.concurrent.ConcurrentHashMap

import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.endpoints.{KinesisEndpointParams, KinesisEndpointProvider}

/**
 * Addresses of Kinesis' data plane by the SDK's endpoint rules, for calls that the SDK's client does not make.
 * Thread-safe.
 */
final private[aws] class KinesisEndpoints(val region: Region, settings: EndpointSettings) {
  private val ofStreams = new ConcurrentHashMap[String, URI]

  /**
   * Returns the address for records of a stream.
   *
   * @param arn
   *   ARN of the stream, if the request names it
   */
  def ofStream(arn: Option[String]): URI =
    ofStreams.computeIfAbsent(arn.getOrElse(""), _ => resolve(_.streamArn(arn.orNull)))

  def ofConsumer(consumerArn: String): URI = resolve(_.consumerArn(consumerArn))

  private def resolve(of: KinesisEndpointParams.Builder => KinesisEndpointParams.Builder): URI = {
    val params = KinesisEndpointParams.builder().region(region).operationType("data")
    settings.overridden.foreach(address => params.endpoint(address.toString))
    settings.useFips.foreach(use => params.useFips(use))
    settings.useDualStack.foreach(use => params.useDualStack(use))
    KinesisEndpointProvider.defaultProvider().resolveEndpoint(of(params).build()).join().endpointUrl().toUri
  }
}

private[aws] object KinesisEndpoints {
  val Service = "Kinesis"
}
