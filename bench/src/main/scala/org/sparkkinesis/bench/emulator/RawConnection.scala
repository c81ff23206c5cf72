package org.sparkkinesis.bench.emulator

import java.net.InetSocketAddress
import java.util.concurrent.CompletableFuture

import io.netty.bootstrap.Bootstrap
import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.socket.nio.NioSocketChannel
import io.netty.channel.{
  Channel,
  ChannelHandlerContext,
  ChannelInboundHandlerAdapter,
  ChannelInitializer,
  ChannelOption,
  EventLoopGroup,
  SimpleChannelInboundHandler
}
import io.netty.handler.codec.LengthFieldBasedFrameDecoder
import io.netty.handler.codec.http2._

/**
 * An HTTP/2 connection without TLS that only sends and receives bytes, so that a measurement shows the emulator.
 * Thread-safe.
 */
final private[emulator] class RawConnection(port: Int, group: EventLoopGroup) {
  import RawConnection._

  private val codec = Http2FrameCodecBuilder
    .forClient()
    .initialSettings(Http2Settings.defaultSettings.initialWindowSize(WindowBytes).maxFrameSize(FrameBytes))
    .build()

  private val channel: Channel = new Bootstrap()
    .group(group)
    .channel(classOf[NioSocketChannel])
    .option[java.lang.Boolean](ChannelOption.TCP_NODELAY, true)
    .handler(new ChannelInitializer[Channel] {
      override def initChannel(ch: Channel): Unit = {
        ch.pipeline.addLast(codec, new Http2MultiplexHandler(new ChannelInboundHandlerAdapter))
        ()
      }
    })
    .connect(new InetSocketAddress("127.0.0.1", port))
    .sync()
    .channel

  // The window of the connection is 64 KiB regardless of the settings.
  private val widen: Runnable = () => {
    val connection = codec.connection
    connection.local.flowController.incrementWindowSize(connection.connectionStream, WindowBytes * ConnectionWindows)
  }
  channel.eventLoop.submit(widen).sync()

  /**
   * Sends a request, takes ownership of its body, and returns the complete body of the answer. An error fails the
   * future.
   */
  def call(operation: String, contentType: String, body: ByteBuf): CompletableFuture[Array[Byte]] = {
    val answer = new CompletableFuture[Array[Byte]]
    open(operation, contentType, body, Seq(new WholeBody(operation, answer)), answer)
    answer
  }

  /**
   * Sends a SubscribeToShard request and passes every frame of the event stream to `onFrame` until that returns
   * false.
   */
  def subscribe(body: ByteBuf)(onFrame: ByteBuf => Boolean): CompletableFuture[Unit] = {
    val ended = new CompletableFuture[Unit]
    val frames = new LengthFieldBasedFrameDecoder(MaxFrame, 0, 4, -4, 0)
    open("SubscribeToShard", Json, body, Seq(new DataOnly, frames, new Frames(onFrame, ended)), ended)
    ended
  }

  private def open(
      operation: String,
      contentType: String,
      body: ByteBuf,
      handlers: Seq[ChannelInboundHandlerAdapter],
      failed: CompletableFuture[?]
  ): Unit = {
    new Http2StreamChannelBootstrap(channel)
      .handler(new ChannelInitializer[Channel] {
        override def initChannel(ch: Channel): Unit = {
          ch.pipeline.addLast(handlers: _*)
          ()
        }
      })
      .open()
      .addListener { (opened: io.netty.util.concurrent.Future[Http2StreamChannel]) =>
        if (opened.isSuccess) {
          val stream = opened.getNow
          val headers = new DefaultHttp2Headers().method("POST").path("/").scheme("http").authority("127.0.0.1")
          headers.add("content-type", contentType).add("x-amz-target", s"Kinesis_20131202.$operation")
          headers.addInt("content-length", body.readableBytes)
          stream.write(new DefaultHttp2HeadersFrame(headers))
          stream.writeAndFlush(new DefaultHttp2DataFrame(body, true))
          ()
        } else {
          body.release()
          failed.completeExceptionally(opened.cause)
          ()
        }
      }
    ()
  }

  def close(): Unit = {
    channel.close().sync()
    ()
  }
}

private[emulator] object RawConnection {
  val Json = "application/x-amz-json-1.1"
  val Cbor = "application/x-amz-cbor-1.1"
  private val WindowBytes = 1024 * 1024
  private val ConnectionWindows = 8
  private val FrameBytes = 64 * 1024
  private val MaxFrame = 32 * 1024 * 1024

  def requireOk(headers: Http2Headers, what: String): Unit =
    if (!headers.status.toString.equals("200")) throw new IllegalStateException(s"$what answered ${headers.status}")

  final private class WholeBody(operation: String, answer: CompletableFuture[Array[Byte]])
      extends SimpleChannelInboundHandler[Http2StreamFrame] {
    private var body = Array.emptyByteArray
    private var length = 0

    override def channelRead0(ctx: ChannelHandlerContext, frame: Http2StreamFrame): Unit = frame match {
      case headers: Http2HeadersFrame =>
        requireOk(headers.headers, operation)
        body = new Array[Byte](headers.headers.getInt("content-length", 0))
        if (headers.isEndStream) end()
      case data: Http2DataFrame =>
        val n = data.content.readableBytes
        data.content.readBytes(body, length, n)
        length += n
        if (data.isEndStream) end()
      case _ => ()
    }

    private def end(): Unit = {
      answer.complete(body)
      ()
    }

    override def channelInactive(ctx: ChannelHandlerContext): Unit = {
      answer.completeExceptionally(new IllegalStateException(s"$operation was not answered"))
      ctx.fireChannelInactive()
      ()
    }

    override def exceptionCaught(ctx: ChannelHandlerContext, cause: Throwable): Unit = {
      answer.completeExceptionally(cause)
      ctx.close()
      ()
    }
  }

  /** Passes on the content of HTTP/2 data frames. */
  final private class DataOnly extends ChannelInboundHandlerAdapter {
    override def channelRead(ctx: ChannelHandlerContext, message: Any): Unit = message match {
      case headers: Http2HeadersFrame => requireOk(headers.headers, "SubscribeToShard")
      case data: Http2DataFrame =>
        ctx.fireChannelRead(data.content)
        ()
      case other =>
        ctx.fireChannelRead(other)
        ()
    }
  }

  final private class Frames(onFrame: ByteBuf => Boolean, ended: CompletableFuture[Unit])
      extends SimpleChannelInboundHandler[ByteBuf] {
    private var wanted = true

    override def channelRead0(ctx: ChannelHandlerContext, frame: ByteBuf): Unit =
      if (wanted && !onFrame(frame)) {
        wanted = false
        ctx.close()
        ()
      }

    override def channelInactive(ctx: ChannelHandlerContext): Unit = {
      ended.complete(())
      ctx.fireChannelInactive()
      ()
    }

    override def exceptionCaught(ctx: ChannelHandlerContext, cause: Throwable): Unit = {
      ended.completeExceptionally(cause)
      ctx.close()
      ()
    }
  }

  def text(body: String): ByteBuf = Unpooled.wrappedBuffer(body.getBytes(java.nio.charset.StandardCharsets.UTF_8))
}
