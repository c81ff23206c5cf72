package org.sparkkinesis.aws.http

import java.net.URI
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.util.control.NonFatal

import software.amazon.awssdk.http.async.{AsyncExecuteRequest, SdkAsyncHttpClient}
import software.amazon.awssdk.http.nio.netty.{NettyNioAsyncHttpClient, ProxyConfiguration, SdkEventLoopGroup}

import org.sparkkinesis.network.{Network, Proxy}

/**
 * Sends each request through the proxy that the network settings name for its address. It has one client of the SDK for
 * each proxy, and one for calls without a proxy, because a client of the SDK has one proxy. The SDK's own decision is
 * off: it takes `NO_PROXY` for regular expressions, and uses a proxy for the other scheme. Thread-safe.
 */
final private[aws] class ProxiedHttpClient(
    network: Network,
    loops: EventLoops,
    settings: SdkEventLoopGroup => NettyNioAsyncHttpClient.Builder
) extends SdkAsyncHttpClient {
  private val held = loops.use()
  private val clients = new ConcurrentHashMap[Option[Proxy], SdkAsyncHttpClient]
  @volatile private var isClosed = false

  override def clientName(): String = "NettyNio"

  override def execute(request: AsyncExecuteRequest): CompletableFuture[Void] =
    try clientOf(network.proxyFor(ProxiedHttpClient.address(request.request))).execute(request)
    catch {
      case NonFatal(error) =>
        request.responseHandler.onError(error)
        CompletableFuture.failedFuture(error)
    }

  override def close(): Unit = synchronized {
    isClosed = true
    clients.values.forEach(_.close())
    held.close()
  }

  private def clientOf(proxy: Option[Proxy]): SdkAsyncHttpClient = Option(clients.get(proxy)).getOrElse(synchronized {
    if (isClosed) throw new IllegalStateException("the client is closed")
    clients.computeIfAbsent(
      proxy,
      _ => settings(held.value).proxyConfiguration(ProxiedHttpClient.configuration(proxy)).build()
    )
  })
}

private[aws] object ProxiedHttpClient {
  private def address(request: software.amazon.awssdk.http.SdkHttpRequest): URI =
    new URI(request.protocol, null, request.host, request.port, null, null, null)

  private def configuration(proxy: Option[Proxy]): ProxyConfiguration = {
    val own = ProxyConfiguration.builder().useSystemPropertyValues(false).useEnvironmentVariableValues(false)
    proxy.foreach { to =>
      own.scheme(if (to.secure) "https" else "http").host(to.host).port(to.port)
      to.user.foreach(user => own.username(user).password(to.password.getOrElse("")))
    }
    own.build()
  }
}
