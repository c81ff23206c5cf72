package org.sparkkinesis.aws.http

import java.time.{Duration => JavaDuration}

import scala.concurrent.duration._

import io.netty.handler.ssl.{SslContextBuilder, SslProvider}
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.http.nio.netty.{NettyNioAsyncHttpClient, SdkEventLoopGroup}

import org.sparkkinesis.aws.transport.{Http2Transport, HttpTransport}
import org.sparkkinesis.concurrent.Shared
import org.sparkkinesis.model.KinesisQuotas
import org.sparkkinesis.network.Network

/**
 * The HTTP clients and their event loops. Requests and subscriptions use separate event loops, so that a burst of the
 * sink cannot delay pushed records, and a backlog of pushed records cannot delay requests.
 */
private[aws] object HttpClients {
  private val requestLoops = new EventLoops("kinesis-request")

  /**
   * The SDK's endpoint rules wait for the credentials on the thread of a call, which may be an event loop of the
   * requests. The calls for credentials must not need that loop.
   */
  private val credentialsLoops = new EventLoops("kinesis-credentials-request", Some(1))

  private val subscriptionLoops = new EventLoops("kinesis-subscription")

  /**
   * Creates the client for request-response calls. It uses HTTP/1.1, where a connection carries one call at a time: a
   * slow response delays no other call, and a lost connection fails one call.
   */
  def forRequests(network: Network): SdkAsyncHttpClient = overHttp1(network, requestLoops)

  /** Creates the client for the calls that get credentials, with an event loop of its own. */
  def forCredentials(network: Network): SdkAsyncHttpClient = overHttp1(network, credentialsLoops)

  private def overHttp1(network: Network, loops: EventLoops): SdkAsyncHttpClient = proxied(network, loops) { group =>
    NettyNioAsyncHttpClient
      .builder()
      .protocol(Protocol.HTTP1_1)
      .eventLoopGroup(group)
      .sslProvider(SslProvider.JDK)
      .maxConcurrency(network.maxConnections)
      .maxPendingConnectionAcquires(MaxPendingAcquires)
      .connectionAcquisitionTimeout(javaDuration(acquireTimeout(network)))
      .connectionTimeout(javaDuration(network.connectTimeout))
      .readTimeout(javaDuration(network.requestTimeout))
      .writeTimeout(javaDuration(network.requestTimeout))
      .tcpKeepAlive(true)
  }

  private def proxied(network: Network, loops: EventLoops)(
      settings: SdkEventLoopGroup => NettyNioAsyncHttpClient.Builder
  ): SdkAsyncHttpClient = {
    lazy val trusted = TrustedAuthorities.of(network)
    new ProxiedHttpClient(
      network,
      loops,
      group => {
        val builder = settings(group)
        trusted.foreach(manager => builder.tlsTrustManagersProvider(() => Array(manager)))
        builder
      }
    )
  }

  /** Creates the connector's own client for calls with many bytes. It shares the event loops of the requests. */
  def transport(network: Network): HttpTransport = {
    val held = requestLoops.use()
    new HttpTransport(network, () => tls(network).build(), held.value.eventLoopGroup, () => held.close())
  }

  private def tls(network: Network): SslContextBuilder = {
    val builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK)
    TrustedAuthorities.of(network).foreach(manager => builder.trustManager(manager))
    builder
  }

  /** The connector's own client for subscriptions, and the event loops that it holds. */
  final class Subscriptions private[HttpClients] (val transport: Http2Transport, loops: AutoCloseable)
      extends AutoCloseable {
    override def close(): Unit = loops.close()
  }

  private val ofSubscriptions =
    new Shared[Network, Subscriptions](newSubscriptions(_), _.close(), Duration.Zero, Shared.onTimer)
  private val ofSdkSubscriptions =
    new Shared[Network, SdkAsyncHttpClient](newSdkSubscriptions(_), _.close(), Duration.Zero, Shared.onTimer)

  /**
   * Returns the connector's own client for subscriptions. The JVM has one for each network, while a returned one is not
   * closed.
   */
  def subscriptions(network: Network): Shared.Hold[Subscriptions] = ofSubscriptions.acquire(withoutLimits(network))

  private def newSubscriptions(network: Network): Subscriptions = {
    val held = subscriptionLoops.use()
    val transport = new Http2Transport(
      network,
      () => Http2Transport.offered(tls(network)).build(),
      held.value.eventLoopGroup,
      subscriptionWindow(Runtime.getRuntime.maxMemory),
      Runtime.getRuntime.availableProcessors
    )
    new Subscriptions(transport, held)
  }

  /**
   * Returns the SDK's client for subscriptions. The JVM has one for each network, over HTTP/2, while a returned one is
   * not closed. A subscription occupies its stream of a connection until it ends, so concurrency has no bound. The read
   * timeout is longer than the lifetime of a subscription, so that a paused reader does not time out.
   */
  def sdkSubscriptions(network: Network): SdkAsyncHttpClient =
    new HeldHttpClient(ofSdkSubscriptions.acquire(withoutLimits(network)))

  private def newSdkSubscriptions(network: Network): SdkAsyncHttpClient =
    proxied(network, subscriptionLoops) { group =>
      NettyNioAsyncHttpClient
        .builder()
        .protocol(Protocol.HTTP2)
        .eventLoopGroup(group)
        .sslProvider(SslProvider.JDK)
        .maxConcurrency(Int.MaxValue)
        .maxPendingConnectionAcquires(Int.MaxValue)
        .connectionAcquisitionTimeout(JavaDuration.ofSeconds(60))
        .connectionTimeout(javaDuration(network.connectTimeout))
        .readTimeout(JavaDuration.ofNanos(KinesisQuotas.Lifetime.Subscription.toNanos).plusMinutes(1))
        .writeTimeout(JavaDuration.ofSeconds(60))
        .tcpKeepAlive(true)
        .http2Configuration { http2 =>
          http2.initialWindowSize(
            subscriptionWindow(Runtime.getRuntime.maxMemory)
          ).healthCheckPingPeriod(JavaDuration.ofSeconds(60))
          ()
        }
    }

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

  private def javaDuration(from: FiniteDuration): JavaDuration = JavaDuration.ofNanos(from.toNanos)
}
