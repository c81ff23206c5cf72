package org.sparkkinesis.aws.client

import scala.util.control.NonFatal

import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain

import org.sparkkinesis.error.ServiceErrors

/** The region that settings mean. */
object Regions {

  /**
   * The settings' own, else the AWS default chain's; asks files and the instance, so it may take a moment.
   *
   * @throws KinesisConnectorException
   *   `KINESIS_REGION_MISSING`, naming `stream`
   */
  def resolve(settings: ClientSettings, stream: String): String =
    settings.region.orElse(ofDefaultChain()).getOrElse {
      throw ServiceErrors.regionMissing(stream)
    }

  private def ofDefaultChain(): Option[String] =
    // The chain throws when no link of it knows a region; that is the answer here.
    try Option(DefaultAwsRegionProviderChain.builder().build().getRegion).map((region: Region) => region.id)
    catch { case NonFatal(_) => None }
}
