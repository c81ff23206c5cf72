package org.sparkkinesis.aws.client

import scala.util.control.NonFatal

import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain

import org.sparkkinesis.error.ServiceErrors

/** Resolves the AWS region of client settings. */
object Regions {

  /**
   * Returns the configured region, or the region of the AWS default chain. The chain reads files and calls the instance
   * metadata service, so this method can block for some seconds.
   *
   * @throws KinesisConnectorException
   *   `KINESIS_REGION_MISSING`, which names `stream`
   */
  def resolve(settings: ClientSettings, stream: String): String =
    find(settings).getOrElse(throw ServiceErrors.regionMissing(stream))

  /** Does the same, but returns nothing if no region is known. */
  def find(settings: ClientSettings): Option[String] = settings.region.orElse(ofDefaultChain())

  private def ofDefaultChain(): Option[String] =
    // The chain throws an exception if it finds no region.
    try Option(DefaultAwsRegionProviderChain.builder().build().getRegion).map((region: Region) => region.id)
    catch { case NonFatal(_) => None }
}
