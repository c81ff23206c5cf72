package org.sparkkinesis.bench.sink

import java.time.Duration

import software.amazon.awssdk.core.waiters.WaiterOverrideConfiguration
import software.amazon.awssdk.retries.api.BackoffStrategy
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient
import software.amazon.awssdk.services.kinesis.waiters.KinesisAsyncWaiter

import org.sparkkinesis.aws.client.{ClientLease, ClientSettings, CredentialSettings, KinesisClients}
import org.sparkkinesis.kit.process.{EmulatorProcess, TrustStore}
import org.sparkkinesis.service.KinesisService

/** How the connector writes to an emulator: without TLS, or with it. */
final class WriteRoute(val endpoint: String) extends AutoCloseable {
  private val settings: ClientSettings = ClientSettings.of(
    Some("us-east-1"),
    Some(endpoint),
    CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
  )

  /** The connector's own client. */
  val lease: ClientLease[KinesisService] = KinesisClients.shared.acquire(settings)

  override def close(): Unit = lease.close()
}

/**
 * An emulator in a separate process, with the clients that write to it.
 *
 * @param tls
 *   whether it also serves https, with a certificate that this JVM trusts from then on
 */
final class WriteTarget(quotas: Boolean, heap: String = "3g", tls: Boolean = false) extends AutoCloseable {
  private val process = new EmulatorProcess(heap, quotas, processor = Some(0), tls = tls)
  process.trust.foreach(_.useInThisJvm())
  val endpoint: String = process.endpoint

  /** The certificate of the route over TLS. */
  def trust: Option[TrustStore] = process.trust

  val plain: WriteRoute = new WriteRoute(endpoint)
  val secure: Option[WriteRoute] = process.secureEndpoint.map(new WriteRoute(_))

  /** An ordinary SDK client, to create streams and for the loop of the comparison. */
  val sdk: KinesisAsyncClient = KinesisAsyncClient
    .builder()
    .region(software.amazon.awssdk.regions.Region.US_EAST_1)
    .endpointOverride(java.net.URI.create(endpoint))
    .credentialsProvider(
      software.amazon.awssdk.auth.credentials.StaticCredentialsProvider
        .create(software.amazon.awssdk.auth.credentials.AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))
    )
    .httpClientBuilder(
      software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient.builder().maxConcurrency(256)
    )
    .build()

  def createStream(name: String, shards: Int): Unit = {
    sdk.createStream { request => request.streamName(name).shardCount(shards); () }.get()
    val waiter = KinesisAsyncWaiter
      .builder()
      .client(sdk)
      .overrideConfiguration(WaiterOverrideConfiguration.builder().backoffStrategyV2(
        BackoffStrategy.fixedDelay(Duration.ofMillis(60))
      ).build())
      .build()
    try waiter.waitUntilStreamExists { request => request.streamName(name); () }.get()
    finally waiter.close()
    ()
  }

  def deleteStream(name: String): Unit = {
    sdk.deleteStream { request => request.streamName(name); () }.get()
    ()
  }

  override def close(): Unit = {
    sdk.close()
    (plain +: secure.toSeq).foreach(_.close())
    process.close()
  }
}
