package org.sparkkinesis.emulator.wire.http

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.{ChannelHandlerContext, SimpleChannelInboundHandler}
import io.netty.handler.codec.http._
import io.netty.util.ReferenceCountUtil

/** Receives complete requests and later events of their channel. Called on the event loop of the channel. */
trait RequestReceiver {
  def received(exchange: Exchange): Unit

  /** Answers a request that is not valid HTTP or too large, with an error in the format of the service. */
  def refused(exchange: Exchange, status: Int, errorType: String, message: String): Unit
  def writabilityChanged(ctx: ChannelHandlerContext): Unit
  def closed(ctx: ChannelHandlerContext): Unit
}

/**
 * Collects the parts of one request in one heap buffer, which parsers read in place. One instance for each channel.
 */
final class RequestCollector(receiver: RequestReceiver, dates: HttpDates)
    extends SimpleChannelInboundHandler[HttpObject] {
  import RequestCollector._

  private var head: HttpRequest = _
  private var body: ByteBuf = Unpooled.EMPTY_BUFFER
  private var skipping = false

  override def channelRead0(ctx: ChannelHandlerContext, part: HttpObject): Unit = {
    part match {
      case request: HttpRequest => begin(ctx, request)
      case _ => ()
    }
    part match {
      case content: HttpContent if head != null =>
        if (content.decoderResult.isFailure && !skipping) refuse(ctx, 400, "The request's body cannot be read.")
        append(ctx, content.content)
        if (content.isInstanceOf[LastHttpContent]) end(ctx)
      case _ => ()
    }
  }

  private def begin(ctx: ChannelHandlerContext, request: HttpRequest): Unit = {
    releaseBody()
    head = new DefaultHttpRequest(request.protocolVersion, request.method, request.uri, request.headers)
    skipping = false
    if (request.decoderResult.isFailure)
      refuse(ctx, 400, s"The request is not valid HTTP: ${request.decoderResult.cause.getMessage}")
    else {
      if (HttpUtil.is100ContinueExpected(request))
        ctx.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE))
      val announced = request.headers.get(HttpHeaderNames.CONTENT_LENGTH)
      val length = if (announced == null) 0L else announced.toLongOption.getOrElse(0L)
      if (length > MaxBodyBytes) refuse(ctx, 413, TooLarge)
      else if (length > 0) body = ctx.alloc.heapBuffer(length.toInt)
    }
  }

  private def append(ctx: ChannelHandlerContext, content: ByteBuf): Unit = if (!skipping && content.isReadable) {
    if (body.readableBytes.toLong + content.readableBytes > MaxBodyBytes) refuse(ctx, 413, TooLarge)
    else {
      if (body eq Unpooled.EMPTY_BUFFER) body = ctx.alloc.heapBuffer(content.readableBytes)
      body.writeBytes(content)
      ()
    }
  }

  private def refuse(ctx: ChannelHandlerContext, status: Int, message: String): Unit = {
    skipping = true
    receiver.refused(new Exchange(ctx, head, Unpooled.EMPTY_BUFFER, dates), status, "SerializationException", message)
    ctx.close()
    ()
  }

  private def end(ctx: ChannelHandlerContext): Unit = {
    val exchange = new Exchange(ctx, head, if (body eq Unpooled.EMPTY_BUFFER) NoBody.duplicate else body, dates)
    head = null
    try if (!skipping) receiver.received(exchange)
    finally releaseBody()
  }

  private def releaseBody(): Unit = {
    ReferenceCountUtil.release(body)
    body = Unpooled.EMPTY_BUFFER
  }

  override def channelWritabilityChanged(ctx: ChannelHandlerContext): Unit = {
    receiver.writabilityChanged(ctx)
    ctx.fireChannelWritabilityChanged()
    ()
  }

  override def channelInactive(ctx: ChannelHandlerContext): Unit = {
    releaseBody()
    receiver.closed(ctx)
    ctx.fireChannelInactive()
    ()
  }

  override def exceptionCaught(ctx: ChannelHandlerContext, cause: Throwable): Unit = {
    Log.channelFailed(ctx, cause)
    ctx.close()
    ()
  }
}

private object RequestCollector {

  // The largest request has 10 MiB of records. Base64 adds a third, and names and keys need some more.
  val MaxBodyBytes: Int = 24 * 1024 * 1024
  val TooLarge = s"The request is larger than $MaxBodyBytes bytes."
  val NoBody: ByteBuf = Unpooled.wrappedBuffer(Array.emptyByteArray)
}
