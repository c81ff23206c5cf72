package org.sparkkinesis.aws.client

import java.time.Duration

import scala.concurrent.duration.{DurationInt, FiniteDuration}

import io.netty.handler.ssl.SslProvider
import software.amazon.awssdk.http.Protocol
import software.amazon.awssdk.http.async.SdkAsyncHttpClient
import software.amazon.awssdk.http.nio.netty.{NettyNioAsyncHttpClient, SdkEventLoopGroup}

import org.sparkkinesis.model.KinesisQuotas

/**
 * The HTTP clients and their event loops. Requests and subscriptions never share a loop: whoever fills one, a sink in
 * a burst or a backlog that is pushed, must not hold up the other.
 */
private[aws] object HttpClients {
  private lazy val requestLoops =
    SdkEventLoopGroup.builder().threadFactory(DaemonThreads.named("kinesis-request")).build()

  private lazy val subscriptionLoops =
    SdkEventLoopGroup.builder().threadFactory(DaemonThreads.named("kinesis-subscription")).build()

  /**
   * For calls of one answer: HTTP/1.1. A connection carries one call at a time, so a slow answer holds up no other, and
   * one lost connection fails one call.
   */
  def forRequests(settings: ClientSettings): SdkAsyncHttpClient = NettyNioAsyncHttpClient
    .builder()
    .protocol(Protocol.HTTP1_1)
    .eventLoopGroup(requestLoops)
    .sslProvider(SslProvider.JDK)
    .maxConcurrency(settings.maxConcurrency)
    .maxPendingConnectionAcquires(MaxPendingAcquires)
    .connectionAcquisitionTimeout(javaDuration(settings.requestTimeout.min(AcquireTimeout)))
    .connectionTimeout(ConnectTimeout)
    .readTimeout(javaDuration(settings.requestTimeout))
    .writeTimeout(javaDuration(settings.requestTimeout))
    .tcpKeepAlive(true)
    .build()

  /**
   * For subscriptions: one for the JVM, never closed, HTTP/2. A subscription counts as busy for its whole life, so
   * there is no bound on how many; a stalled reader must not be timed out before the service ends the subscription;
   * window and ping are those that the field has settled on (KCL, Flink).
   */
  lazy val forSubscriptions: SdkAsyncHttpClient = subscriptions().build()

  /** The same, to be built by whoever has to say more, such as whom to trust. */
  def subscriptions(): NettyNioAsyncHttpClient.Builder = NettyNioAsyncHttpClient
    .builder()
    .protocol(Protocol.HTTP2)
    .eventLoopGroup(subscriptionLoops)
    .sslProvider(SslProvider.JDK)
    .maxConcurrency(Int.MaxValue)
    .maxPendingConnectionAcquires(Int.MaxValue)
    .connectionAcquisitionTimeout(Duration.ofSeconds(60))
    .connectionTimeout(ConnectTimeout)
    .readTimeout(Duration.ofNanos(KinesisQuotas.Lifetime.Subscription.toNanos).plusMinutes(1))
    .writeTimeout(Duration.ofSeconds(60))
    .tcpKeepAlive(true)
    .http2Configuration { http2 =>
      http2.initialWindowSize(
        subscriptionWindow(Runtime.getRuntime.maxMemory)
      ).healthCheckPingPeriod(Duration.ofSeconds(60))
      ()
    }

  /**
   * What a stalled subscription may still receive, and hold in memory: what the field has settled on, or less where
   * thousands of them would fill a small JVM. At 2 MiB a second for a shard the least serves round trips of 30 ms.
   */
  def subscriptionWindow(maxMemory: Long): Int =
    math.max(64L * KinesisQuotas.KiB, math.min(512L * KinesisQuotas.KiB, maxMemory / 4096)).toInt

  private val ConnectTimeout = Duration.ofSeconds(5)

  /**
   * The SDK's own default, and more than a connection takes. Below the time of a request: while an endpoint has never been reached, the
   * SDK's pool loses one in some thirty refused connections, and such a call would say nothing until all of its time is over.
   */
  private val AcquireTimeout = 10.seconds
  private val MaxPendingAcquires = 100000

  private def javaDuration(from: FiniteDuration): Duration = Duration.ofNanos(from.toNanos)
}
