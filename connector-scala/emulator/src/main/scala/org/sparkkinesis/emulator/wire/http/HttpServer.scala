package org.sparkkinesis.emulator.wire.http

import java.net.InetSocketAddress
import java.util.concurrent.TimeUnit

import io.netty.bootstrap.ServerBootstrap
import io.netty.channel.group.DefaultChannelGroup
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.channel.{Channel, ChannelInitializer, ChannelOption}
import io.netty.handler.codec.http2.Http2SecurityUtil
import io.netty.handler.ssl.{
  ApplicationProtocolConfig,
  ApplicationProtocolNames,
  SslContext,
  SslContextBuilder,
  SslProvider,
  SupportedCipherSuiteFilter
}
import io.netty.util.concurrent.{DefaultThreadFactory, GlobalEventExecutor}

/** Serves one port with HTTP/1.1, HTTP/2 and, if it has a certificate, TLS. */
final class HttpServer(
    listensOn: InetSocketAddress,
    threads: Int,
    receiver: RequestReceiver,
    limits: Http2Limits,
    tls: Option[ServerCertificate],
    dates: HttpDates
) extends AutoCloseable {
  private val group = new NioEventLoopGroup(threads, new DefaultThreadFactory("kinesis-emulator", true))
  private val connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)
  private val pipelines = new Pipelines(receiver, limits, dates)
  private val sslContext = tls.map(HttpServer.sslContext)
  private val server: Channel =
    try bind()
    catch {
      case e: Throwable =>
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS)
        throw e
    }

  val address: InetSocketAddress = server.localAddress.asInstanceOf[InetSocketAddress]

  private def bind(): Channel = new ServerBootstrap()
    .group(group)
    .channel(classOf[NioServerSocketChannel])
    .childOption[java.lang.Boolean](ChannelOption.TCP_NODELAY, true)
    .childHandler(new ChannelInitializer[Channel] {
      override def initChannel(connection: Channel): Unit = {
        connections.add(connection)
        connection.pipeline.addLast(new ProtocolSniffer(sslContext, pipelines))
        ()
      }
    })
    .bind(listensOn)
    .sync()
    .channel

  override def close(): Unit = {
    server.close().syncUninterruptibly()
    connections.close().awaitUninterruptibly()
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly()
    ()
  }
}

object HttpServer {
  private def sslContext(own: ServerCertificate): SslContext = SslContextBuilder
    .forServer(own.key, own.certificate)
    .sslProvider(SslProvider.JDK)
    .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
    .applicationProtocolConfig(
      new ApplicationProtocolConfig(
        ApplicationProtocolConfig.Protocol.ALPN,
        ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
        ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
        ApplicationProtocolNames.HTTP_2,
        ApplicationProtocolNames.HTTP_1_1
      )
    )
    .build()
}
