package org.sparkkinesis.conformance.backend

import java.net.URI

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, AwsCredentialsProvider, StaticCredentialsProvider}
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient

/** A Kinesis implementation that the conformance suite runs against. */
trait Backend extends AutoCloseable {
  def name: String

  /** The endpoint; empty for the service itself. */
  def endpoint: Option[URI]
  def credentials: AwsCredentialsProvider =
    StaticCredentialsProvider.create(AwsBasicCredentials.create("conformance", "conformance-secret"))

  /** Advances the backend's clock if possible, else waits for this time. */
  def passTime(by: FiniteDuration): Unit

  /** Whether the backend enforces write quotas. */
  def enforcesQuotas: Boolean = false

  def client(): KinesisAsyncClient = {
    val builder = KinesisAsyncClient
      .builder()
      .region(Region.US_EAST_1)
      .credentialsProvider(credentials)
      .httpClientBuilder(NettyNioAsyncHttpClient.builder())
    endpoint.foreach(builder.endpointOverride)
    builder.build()
  }
}
