package org.sparkkinesis.bench.source

import java.net.URI

import software.amazon.awssdk.auth.credentials.{AwsBasicCredentials, StaticCredentialsProvider}
import software.amazon.awssdk.http.apache5.Apache5HttpClient
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient
import software.amazon.awssdk.http.{Protocol, SdkHttpClient}
import software.amazon.awssdk.regions.Region
import software.amazon.awssdk.services.kinesis.{KinesisAsyncClient, KinesisClient}

import org.sparkkinesis.bench.MeasuredLoop

/**
 * The SDK's clients with their defaults, except for endpoint, credentials and HTTP client.
 *
 * @param suffix
 *   the end of the loops' names
 */
final class BareClients(endpoint: String, suffix: String = "") extends AutoCloseable {
  import BareClients._

  /** The SDK's default for asynchronous clients. */
  val http2: KinesisAsyncClient = asynchronous(endpoint)
  private val http1 = asynchronous(endpoint, Protocol.HTTP1_1)
  private val apache = synchronous(endpoint, Apache5HttpClient.builder())
  private val urlConnection = synchronous(endpoint, UrlConnectionHttpClient.builder())

  /** One loop per client. */
  def pollingLoops(shards: Int): Seq[MeasuredLoop] = Seq(
    new AsyncPollingLoop(s"polling_sdk_http2$suffix", http2, ReadingStream.Name, shards),
    new AsyncPollingLoop(s"polling_sdk_http1$suffix", http1, ReadingStream.Name, shards),
    new SyncPollingLoop(s"polling_sdk_apache$suffix", apache, ReadingStream.Name, shards),
    new SyncPollingLoop(s"polling_sdk_urlconnection$suffix", urlConnection, ReadingStream.Name, shards)
  )

  /** Shows what the transport costs without the SDK and without TLS. */
  def socketLoop(shards: Int): MeasuredLoop =
    new SocketPollingLoop("polling_socket", apache, URI.create(endpoint), ReadingStream.Name, shards)

  override def close(): Unit = Seq(http2, http1, apache, urlConnection).foreach(_.close())
}

object BareClients {
  private val credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("AKIDEXAMPLE", "secret"))

  /** Returns an asynchronous client with the SDK's default protocol, which the caller closes. */
  def asynchronous(endpoint: String): KinesisAsyncClient = asynchronous(endpoint, Protocol.HTTP2)

  def asynchronous(endpoint: String, protocol: Protocol): KinesisAsyncClient = KinesisAsyncClient
    .builder()
    .region(Region.US_EAST_1)
    .endpointOverride(URI.create(endpoint))
    .credentialsProvider(credentials)
    .httpClientBuilder(NettyNioAsyncHttpClient.builder().protocol(protocol))
    .build()

  def synchronous(endpoint: String, http: SdkHttpClient.Builder[?]): KinesisClient = KinesisClient
    .builder()
    .region(Region.US_EAST_1)
    .endpointOverride(URI.create(endpoint))
    .credentialsProvider(credentials)
    .httpClientBuilder(http)
    .build()
}
