package org.sparkkinesis.aws.request

import java.net.URI

import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.firehose.endpoints.{FirehoseEndpointParams, FirehoseEndpointProvider}

/** The address of Amazon Data Firehose by the SDK's endpoint rules. */
private[aws] object FirehoseEndpoint {
  val Service = "Firehose"

  def of(region: Region, settings: EndpointSettings): URI = {
    val params = FirehoseEndpointParams.builder().region(region)
    settings.overridden.foreach(address => params.endpoint(address.toString))
    settings.useFips.foreach(use => params.useFips(use))
    settings.useDualStack.foreach(use => params.useDualStack(use))
    FirehoseEndpointProvider.defaultProvider().resolveEndpoint(params.build()).join().endpointUrl().toUri
  }
}
