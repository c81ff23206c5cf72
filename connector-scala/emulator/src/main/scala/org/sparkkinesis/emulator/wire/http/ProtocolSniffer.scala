package org.sparkkinesis.emulator.wire.http

import java.util

import io.netty.buffer.ByteBuf
import io.netty.channel.ChannelHandlerContext
import io.netty.handler.codec.ByteToMessageDecoder
import io.netty.handler.ssl.SslContext

/**
 * Detects the protocol of a connection from its first bytes and installs its handlers: TLS (and then the protocol
 * inside), HTTP/2 with prior knowledge or by ALPN (both begin with `PRI `), or HTTP/1.1.
 */
final private[http] class ProtocolSniffer(tls: Option[SslContext], pipelines: Pipelines) extends ByteToMessageDecoder {
  import ProtocolSniffer._

  override def decode(ctx: ChannelHandlerContext, in: ByteBuf, out: util.List[AnyRef]): Unit = {
    val start = in.readerIndex
    if (in.isReadable) {
      if (in.getByte(start) == TlsHandshake && tls.isDefined) {
        ctx.pipeline.addLast(tls.get.newHandler(ctx.alloc), new ProtocolSniffer(None, pipelines))
        ctx.pipeline.remove(this)
      } else if (in.readableBytes >= Preface.length || !couldBePreface(in)) {
        if (couldBePreface(in)) pipelines.http2(ctx.pipeline) else pipelines.http1(ctx.pipeline)
        ctx.pipeline.remove(this)
      }
    }
    ()
  }

  private def couldBePreface(in: ByteBuf): Boolean = (0 until math.min(in.readableBytes, Preface.length)).forall(i =>
    in.getByte(in.readerIndex + i) == Preface(i)
  )

  override def exceptionCaught(ctx: ChannelHandlerContext, cause: Throwable): Unit = {
    Log.channelFailed(ctx, cause)
    ctx.close()
    ()
  }
}

private object ProtocolSniffer {
  val TlsHandshake: Byte = 0x16
  val Preface: Array[Byte] = "PRI ".getBytes
}
