package org.sparkkinesis.conformance

import java.net.URI

import scala.concurrent.duration.FiniteDuration

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, AwsCredentialsProvider, StaticCredentialsProvider}
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient

/** A Kinesis that the conformance suite runs against. */
trait Backend extends AutoCloseable {
  def name: String

  /** Empty for the service itself. */
  def endpoint: Option[URI]
  def credentials: AwsCredentialsProvider =
    StaticCredentialsProvider.create(AwsBasicCredentials.create("conformance", "conformance-secret"))

  /** Lets time pass for the backend: by its clock where it can be moved, else by waiting. */
  def passTime(by: FiniteDuration): Unit

  /** Whether write quotas are enforced here. */
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
