package org.sparkkinesis.aws.transport

import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import io.netty.bootstrap.ServerBootstrap
import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.channel.{Channel, ChannelHandlerContext, ChannelInboundHandlerAdapter, ChannelInitializer}
import io.netty.handler.codec.http2._
import io.netty.util.ReferenceCountUtil

/**
 * A server of HTTP/2 without TLS, which answers as a test says.
 *
 * @param maxStreams
 *   number of streams of a connection that the server allows
 * @param serve
 *   called with each request when it has arrived completely
 */
final private[transport] class Http2Server(maxStreams: Int = 100)(serve: Http2Server.Stream => Unit)
    extends AutoCloseable {
  import Http2Server._

  private val loops = new NioEventLoopGroup(1)
  private val opened = new AtomicInteger
  private val received = new AtomicInteger

  private val socket = new ServerBootstrap().group(loops).channel(classOf[NioServerSocketChannel])
    .childHandler(new ChannelInitializer[Channel] {
      override def initChannel(channel: Channel): Unit = {
        opened.incrementAndGet()
        val settings = Http2Settings.defaultSettings.maxConcurrentStreams(maxStreams.toLong)
        channel.pipeline.addLast(
          Http2FrameCodecBuilder.forServer().initialSettings(settings).build(),
          new Http2MultiplexHandler(new ChannelInitializer[Channel] {
            override def initChannel(stream: Channel): Unit = {
              stream.pipeline.addLast(new Requests(channel))
              ()
            }
          })
        )
        ()
      }
    }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress, 0)).sync().channel

  def target: Target =
    Target(secure = false, "127.0.0.1", socket.localAddress.asInstanceOf[InetSocketAddress].getPort)

  /** Number of connections that were ever open. */
  def connections: Int = opened.get

  /** Number of requests that were received completely. */
  def requests: Int = received.get

  override def close(): Unit = {
    socket.close().sync()
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync()
    ()
  }

  final private class Requests(connection: Channel) extends ChannelInboundHandlerAdapter {
    private var stream: Stream = null

    override def channelRead(context: ChannelHandlerContext, message: AnyRef): Unit =
      try
        message match {
          case head: Http2HeadersFrame => stream = new Stream(context.channel, connection, head.headers)
          case data: Http2DataFrame if data.isEndStream =>
            received.incrementAndGet()
            serve(stream)
          case _: Http2ResetFrame => if (stream != null) stream.resets()
          case _ => ()
        }
      finally {
        ReferenceCountUtil.release(message)
        ()
      }

    override def userEventTriggered(context: ChannelHandlerContext, event: AnyRef): Unit = {
      event match {
        case _: Http2ResetFrame => if (stream != null) stream.resets()
        case _ => ()
      }
      context.fireUserEventTriggered(event)
      ()
    }
  }
}

private[transport] object Http2Server {

  /** One request, and what is answered. */
  final class Stream(channel: Channel, connection: Channel, val headers: Http2Headers) {
    private val written = new AtomicLong
    @volatile private var onReset: () => Unit = () => ()

    /** Number of bytes of the content that the windows let through. */
    def sent: Long = written.get

    def whenReset(action: () => Unit): Unit = onReset = action
    private[Http2Server] def resets(): Unit = onReset()

    def header(name: String): Option[String] = Option(headers.get(name)).map(_.toString)

    def head(status: Int, isEnd: Boolean = false): Unit = {
      val answer = new DefaultHttp2Headers().status(status.toString).add("date", "now")
      channel.writeAndFlush(new DefaultHttp2HeadersFrame(answer, isEnd))
      ()
    }

    def content(bytes: Array[Byte], isEnd: Boolean = false): Unit = {
      val buffer: ByteBuf = Unpooled.wrappedBuffer(bytes)
      channel.writeAndFlush(new DefaultHttp2DataFrame(buffer, isEnd)).addListener { (_: Any) =>
        written.addAndGet(bytes.length.toLong)
        ()
      }
      ()
    }

    def answer(text: String): Unit = {
      head(200)
      content(text.getBytes("UTF-8"), isEnd = true)
    }

    def reset(error: Http2Error): Unit = {
      channel.writeAndFlush(new DefaultHttp2ResetFrame(error))
      ()
    }

    /** Refuses further streams on this connection. */
    def goAway(): Unit = {
      connection.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR))
      ()
    }

    def closeConnection(): Unit = {
      connection.close()
      ()
    }
  }
}
