package org.sparkkinesis.aws.transport

import java.io.IOException
import java.net.InetSocketAddress

import scala.concurrent.duration._
import scala.util.control.NonFatal

import io.netty.bootstrap.Bootstrap
import io.netty.channel.socket.nio.NioSocketChannel
import io.netty.channel.{
  Channel, ChannelFuture, ChannelHandler, ChannelInitializer, ChannelOption, EventLoopGroup, WriteBufferWaterMark
}
import io.netty.handler.proxy.HttpProxyHandler
import io.netty.handler.ssl.{SslContext, SslHandler}
import io.netty.resolver.NoopAddressResolverGroup
import io.netty.util.concurrent.{Future => NettyFuture}

import org.sparkkinesis.network.{Network, Proxy}

/**
 * Opens connections to a host: name, proxy, tunnel and TLS. Thread-safe.
 *
 * @param network
 *   time to connect
 * @param tls
 *   for connections over TLS
 * @param loops
 *   not owned
 */
final private[transport] class ChannelOpener(network: Network, tls: () => SslContext, loops: EventLoopGroup) {
  import ChannelOpener._

  private lazy val secure = tls()

  /**
   * Begins to open a connection.
   *
   * @param proxy
   *   the proxy for this host, if there is one
   * @param isTunnelled
   *   whether the proxy opens a tunnel, instead of receiving the requests
   * @param connection
   *   the part of the connection above TLS
   */
  def open(target: Target, proxy: Option[Proxy], isTunnelled: Boolean, connection: OpenedConnection): Unit =
    try {
      val host = proxy.fold(target.host)(_.host)
      val port = proxy.fold(target.port)(_.port)
      val names = HostNames.getResolver(loops.next())
      names.resolve(InetSocketAddress.createUnresolved(host, port)).addListener {
        (resolved: NettyFuture[_ >: InetSocketAddress]) =>
          if (!resolved.isSuccess) connection.refused(resolved.cause)
          else
            try
              connect(target, proxy, isTunnelled, connection, resolved.getNow.asInstanceOf[InetSocketAddress])
            catch { case NonFatal(error) => connection.refused(error) }
      }
      ()
    } catch { case NonFatal(error) => connection.refused(error) }

  private def connect(
      target: Target,
      proxy: Option[Proxy],
      isTunnelled: Boolean,
      connection: OpenedConnection,
      address: InetSocketAddress
  ): Unit = {
    val tunnel = proxy.filter(_ => isTunnelled)
    val bootstrap = new Bootstrap()
      .group(loops)
      .channel(classOf[NioSocketChannel])
      .option[Integer](ChannelOption.CONNECT_TIMEOUT_MILLIS, network.connectTimeout.toMillis.toInt)
      .option[java.lang.Boolean](ChannelOption.TCP_NODELAY, true)
      .option[java.lang.Boolean](ChannelOption.SO_KEEPALIVE, true)
      .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteMarks)
      .handler(new ChannelInitializer[Channel] {
        override def initChannel(channel: Channel): Unit = {
          val pipeline = channel.pipeline
          proxy.filter(_.secure).foreach(via => pipeline.addLast(tlsWith(channel, via.host, via.port)))
          tunnel.foreach(via => pipeline.addLast(tunnelHandler(via, address)))
          if (target.secure) pipeline.addLast(TlsName, tlsWith(channel, target.host, target.port))
          connection.handlers(channel).foreach(handler => pipeline.addLast(handler))
        }
      })
    if (tunnel.isDefined) bootstrap.resolver(NoopAddressResolverGroup.INSTANCE)
    // The handler of the tunnel connects to the proxy instead.
    val to = if (tunnel.isDefined) InetSocketAddress.createUnresolved(target.host, target.port) else address
    bootstrap.connect(to).addListener { (done: ChannelFuture) =>
      // A channel that was closed meanwhile has no handlers any more.
      def opened(): Unit =
        if (done.channel.isActive) connection.opened()
        else connection.refused(new IOException("The connection was closed before the request"))
      if (!done.isSuccess) connection.refused(done.cause)
      else
        handshake(done.channel) match {
          case None => opened()
          case Some(awaited) => awaited.addListener { (ended: NettyFuture[_ >: Channel]) =>
              if (ended.isSuccess) opened()
              else {
                done.channel.close()
                connection.refused(ended.cause)
              }
            }
        }
    }
    ()
  }

  private def tunnelHandler(proxy: Proxy, address: InetSocketAddress): HttpProxyHandler =
    proxy.user.fold(new HttpProxyHandler(address)) { user =>
      new HttpProxyHandler(address, user, proxy.password.getOrElse(""))
    }

  private def handshake(channel: Channel): Option[NettyFuture[Channel]] =
    Option(channel.pipeline.get(TlsName)).map(_.asInstanceOf[SslHandler].handshakeFuture)

  private def tlsWith(channel: Channel, host: String, port: Int): SslHandler = {
    val handler = secure.newHandler(channel.alloc, host, port)
    val parameters = handler.engine.getSSLParameters
    parameters.setEndpointIdentificationAlgorithm("HTTPS")
    handler.engine.setSSLParameters(parameters)
    handler.setHandshakeTimeoutMillis(HandshakeTimeout.toMillis)
    handler
  }
}

private[transport] object ChannelOpener {
  val TlsName = "tls"
  val HandshakeTimeout: FiniteDuration = 10.seconds
  val WriteMarks = new WriteBufferWaterMark(256 * 1024, 512 * 1024)
}

/** A connection that is being opened. Of `opened` and `refused`, one is called once. */
private[transport] trait OpenedConnection {

  /** Returns the handlers of the connection above TLS. Called on the channel's thread before it connects. */
  def handlers(channel: Channel): Seq[ChannelHandler]

  /** The connection can carry requests. Called on the channel's thread. */
  def opened(): Unit

  /** The connection could not be opened. */
  def refused(cause: Throwable): Unit
}
