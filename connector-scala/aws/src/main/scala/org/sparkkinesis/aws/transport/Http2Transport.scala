package org.sparkkinesis.aws.transport

import java.util.concurrent.ConcurrentHashMap

import io.netty.channel.EventLoopGroup
import io.netty.handler.ssl.SslContext

import org.sparkkinesis.network.{Network, Proxy}

/**
 * The HTTP/2 client for answers that arrive for minutes: SubscribeToShard. Many calls share a connection. Its callers
 * bound what arrives by their credit. It neither repeats a request nor follows a redirection. It closes connections
 * that are idle, and needs no close. Thread-safe.
 *
 * An endpoint without TLS must support HTTP/2 without negotiation. With TLS, the client offers HTTP/2 only, and uses it
 * also if the endpoint does not negotiate.
 *
 * @param network
 *   proxy, and time to connect
 * @param tls
 *   for connections over TLS
 * @param loops
 *   not owned
 * @param window
 *   number of bytes of an answer that may arrive without credit
 * @param spread
 *   number of connections to a host over which calls are spread
 */
final private[aws] class Http2Transport(
    network: Network,
    tls: () => SslContext,
    loops: EventLoopGroup,
    window: Int,
    spread: Int
) {
  private val opener = new ChannelOpener(network, tls, loops)
  private val pools = new ConcurrentHashMap[(Target, Option[Proxy]), Http2Pool]

  /** Makes a call. The settings of the JVM may name another proxy than for the call before. */
  def send(request: HttpRequest, reader: StreamReader): Http2Call = {
    val call = new Http2Call(request, reader)
    val target = request.target
    val proxy = network.proxyFor(target.uri)
    pools.computeIfAbsent((target, proxy), _ => newPool(target, proxy)).submit(call)
    call
  }

  private[transport] def openConnections: Int = pools.values.stream.mapToInt(_.size).sum

  // A proxy that received the requests would have to speak HTTP/2.
  private def newPool(target: Target, proxy: Option[Proxy]): Http2Pool = new Http2Pool(
    pool => opener.open(target, proxy, isTunnelled = proxy.isDefined, new Http2Connection(pool, window)),
    spread
  )
}
