package org.sparkkinesis.emulator.kit

import java.net.InetSocketAddress
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import io.netty.bootstrap.Bootstrap
import io.netty.buffer.Unpooled
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.nio.NioSocketChannel
import io.netty.channel.{
  Channel,
  ChannelHandlerContext,
  ChannelInboundHandlerAdapter,
  ChannelInitializer,
  SimpleChannelInboundHandler
}
import io.netty.handler.codec.http2._
import io.netty.util.concurrent.DefaultThreadFactory

/** One HTTP/2 connection. A test decides for each stream whether it is read. */
final class H2Client(port: Int) extends AutoCloseable {
  import H2Client._

  private val group = new NioEventLoopGroup(1, new DefaultThreadFactory("h2-client", true))
  private val answers = new ConcurrentLinkedQueue[Answer]
  private val connection: Channel = new Bootstrap()
    .group(group)
    .channel(classOf[NioSocketChannel])
    .handler(new ChannelInitializer[Channel] {
      override def initChannel(channel: Channel): Unit = {
        val codec = Http2FrameCodecBuilder.forClient().build()
        // A stream that is not read keeps its own window full and returns the window of the connection, as the SDK's
        // client does.
        val window = new DefaultHttp2LocalFlowController(codec.connection, WindowUpdateRatio, true)
        codec.connection.local.flowController(window.frameWriter(codec.encoder.frameWriter))
        channel.pipeline.addLast(codec, new Http2MultiplexHandler(new ChannelInboundHandlerAdapter))
        ()
      }
    })
    .connect(new InetSocketAddress("127.0.0.1", port))
    .sync()
    .channel

  /** Sends a request of the JSON protocol. If `reads` is false, the answer is not read. */
  def open(operation: String, body: String, reads: Boolean): Answer = {
    val answer = new Answer
    val stream = new Http2StreamChannelBootstrap(connection)
      .handler(new ChannelInitializer[Channel] {
        override def initChannel(channel: Channel): Unit = {
          channel.config.setAutoRead(reads)
          channel.pipeline.addLast(answer.handler)
          ()
        }
      })
      .open()
      .sync()
      .getNow
    val headers = new DefaultHttp2Headers().method("POST").path("/").scheme("http").authority("127.0.0.1")
    headers.add("content-type", "application/x-amz-json-1.1").add("x-amz-target", s"Kinesis_20131202.$operation")
    stream.write(new DefaultHttp2HeadersFrame(headers))
    stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(body.getBytes(UTF_8)), true)).sync()
    answer.stream = stream
    answers.add(answer)
    answer
  }

  // Closing a stream releases the data that it has not read; closing only the connection leaks them.
  override def close(): Unit = {
    answers.forEach(answer => answer.closeStream())
    connection.close().sync()
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync()
    ()
  }
}

object H2Client {

  /** One answer while it arrives. */
  final class Answer {
    @volatile private[H2Client] var stream: Channel = _
    private val text = new StringBuffer
    val bytes = new AtomicLong

    /** Waits until the answer contains `part`. */
    def await(part: String): Unit = text.synchronized {
      val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60)
      while (text.indexOf(part) < 0) {
        val left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
        assert(left > 0, s"no $part within 60 s, in ${bytes.get} bytes")
        text.wait(left)
      }
    }

    def startReading(): Unit = {
      stream.config.setAutoRead(true)
      stream.read()
      ()
    }

    private[H2Client] def closeStream(): Unit = {
      stream.close().sync()
      ()
    }

    private[H2Client] val handler = new SimpleChannelInboundHandler[Http2StreamFrame] {
      override def channelRead0(ctx: ChannelHandlerContext, frame: Http2StreamFrame): Unit = frame match {
        case data: Http2DataFrame =>
          bytes.addAndGet(data.content.readableBytes.toLong)
          text.synchronized {
            // Tests wait only for the latest text, which may be split between two frames.
            if (text.length > Kept) text.delete(0, text.length - Kept / 2)
            text.append(data.content.toString(UTF_8))
            text.notifyAll()
          }
        case _ => ()
      }
    }
  }

  private val Kept = 1 << 20
  private val WindowUpdateRatio = DefaultHttp2LocalFlowController.DEFAULT_WINDOW_UPDATE_RATIO
}
