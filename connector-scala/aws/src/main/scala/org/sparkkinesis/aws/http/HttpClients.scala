package org.sparkkinesis.aws.http

import java.time.Duration
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration.{DurationInt, FiniteDuration}

import io.netty.handler.ssl.{SslContextBuilder, SslProvider}
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.http.nio.netty.{NettyNioAsyncHttpClient, SdkEventLoopGroup}

import org.sparkkinesis.aws.transport.{Http2Transport, HttpTransport}
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.network.Network

/**
 * The HTTP clients and their event loops. Requests and subscriptions use separate event loops, so that a burst of the
 * sink cannot delay pushed records, and a backlog of pushed records cannot delay requests.
 */
private[aws] object HttpClients {
  private lazy val requestLoops =
    SdkEventLoopGroup.builder().threadFactory(DaemonThreads.named("kinesis-request")).build()

  /**
   * The SDK's endpoint rules wait for the credentials on the thread of a call, which may be an event loop of the
   * requests. The calls for credentials must not need that loop.
   */
  private lazy val credentialsLoops = SdkEventLoopGroup.builder().numberOfThreads(1)
    .threadFactory(DaemonThreads.named("kinesis-credentials-request")).build()

  private lazy val subscriptionLoops =
    SdkEventLoopGroup.builder().threadFactory(DaemonThreads.named("kinesis-subscription")).build()

  /**
   * Creates the client for request-response calls. It uses HTTP/1.1, where a connection carries one call at a time: a
   * slow response delays no other call, and a lost connection fails one call.
   */
  def forRequests(network: Network): SdkAsyncHttpClient = overHttp1(network, requestLoops)

  /** Creates the client for the calls that get credentials, with an event loop of its own. */
  def forCredentials(network: Network): SdkAsyncHttpClient = overHttp1(network, credentialsLoops)

  private def overHttp1(network: Network, loops: => SdkEventLoopGroup): SdkAsyncHttpClient = proxied(network) { () =>
    NettyNioAsyncHttpClient
      .builder()
      .protocol(Protocol.HTTP1_1)
      .eventLoopGroup(loops)
      .sslProvider(SslProvider.JDK)
      .maxConcurrency(network.maxConnections)
      .maxPendingConnectionAcquires(MaxPendingAcquires)
      .connectionAcquisitionTimeout(javaDuration(acquireTimeout(network)))
      .connectionTimeout(javaDuration(network.connectTimeout))
      .readTimeout(javaDuration(network.requestTimeout))
      .writeTimeout(javaDuration(network.requestTimeout))
      .tcpKeepAlive(true)
  }

  private def proxied(network: Network)(settings: () => NettyNioAsyncHttpClient.Builder): SdkAsyncHttpClient = {
    lazy val trusted = TrustedAuthorities.of(network)
    new ProxiedHttpClient(
      network,
      () => {
        val builder = settings()
        trusted.foreach(manager => builder.tlsTrustManagersProvider(() => Array(manager)))
        builder
      }
    )
  }

  /** Creates the connector's own client for calls with many bytes. It shares the event loops of the requests. */
  def transport(network: Network): HttpTransport =
    new HttpTransport(network, () => tls(network).build(), requestLoops.eventLoopGroup)

  private def tls(network: Network): SslContextBuilder = {
    val builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK)
    TrustedAuthorities.of(network).foreach(manager => builder.trustManager(manager))
    builder
  }

  private val ofSubscriptions = new ConcurrentHashMap[Network, Http2Transport]
  private val ofSdkSubscriptions = new ConcurrentHashMap[Network, SdkAsyncHttpClient]

  /** Returns the connector's own client for subscriptions. The JVM has one for each network, and never closes it. */
  def subscriptions(network: Network): Http2Transport =
    ofSubscriptions.computeIfAbsent(
      withoutLimits(network),
      relevant =>
        new Http2Transport(
          relevant,
          () => Http2Transport.offered(tls(relevant)).build(),
          subscriptionLoops.eventLoopGroup,
          subscriptionWindow(Runtime.getRuntime.maxMemory),
          Runtime.getRuntime.availableProcessors
        )
    )

  /**
   * Returns the SDK's client for subscriptions. The JVM has one for each network, over HTTP/2, and never closes it. A
   * subscription occupies its stream of a connection until it ends, so concurrency has no bound. The read timeout is
   * longer than the lifetime of a subscription, so that a paused reader does not time out.
   */
  def sdkSubscriptions(network: Network): SdkAsyncHttpClient =
    ofSdkSubscriptions.computeIfAbsent(
      withoutLimits(network),
      relevant =>
        proxied(relevant) { () =>
          NettyNioAsyncHttpClient
            .builder()
            .protocol(Protocol.HTTP2)
            .eventLoopGroup(subscriptionLoops)
            .sslProvider(SslProvider.JDK)
            .maxConcurrency(Int.MaxValue)
            .maxPendingConnectionAcquires(Int.MaxValue)
            .connectionAcquisitionTimeout(Duration.ofSeconds(60))
            .connectionTimeout(javaDuration(relevant.connectTimeout))
            .readTimeout(Duration.ofNanos(KinesisQuotas.Lifetime.Subscription.toNanos).plusMinutes(1))
            .writeTimeout(Duration.ofSeconds(60))
            .tcpKeepAlive(true)
            .http2Configuration { http2 =>
              http2.initialWindowSize(
                subscriptionWindow(Runtime.getRuntime.maxMemory)
              ).healthCheckPingPeriod(Duration.ofSeconds(60))
              ()
            }
        }
    )

  /** Limits of requests make no difference to subscriptions. */
  private def withoutLimits(network: Network): Network = network.copy(
    maxConnections = Network.Standard.maxConnections,
    requestTimeout = Network.Standard.requestTimeout
  )

  /**
   * Returns the HTTP/2 window of one subscription in bytes: the data that a paused subscription can receive and hold in
   * memory. It is 512 KiB, as in KCL and Flink, and less in a small JVM, which thousands of subscriptions would fill.
   * The minimum of 64 KiB supports 2 MiB per second and shard at a round-trip time of 30 ms.
   */
  def subscriptionWindow(maxMemory: Long): Int =
    math.max(64L * KinesisQuotas.KiB, math.min(512L * KinesisQuotas.KiB, maxMemory / 4096)).toInt

  /**
   * The SDK's default, which is longer than the connection timeout, and shorter than the request timeout. While an
   * endpoint has never been reached, the SDK's pool loses about one in thirty refused connections. A call that waits
   * for such a connection would otherwise fail only after the whole request timeout.
   */
  private def acquireTimeout(network: Network): FiniteDuration =
    network.requestTimeout.min(AcquireTimeout.max(network.connectTimeout * 2))

  private val AcquireTimeout = 10.seconds
  private val MaxPendingAcquires = 100000

  private def javaDuration(from: FiniteDuration): Duration = Duration.ofNanos(from.toNanos)
}
