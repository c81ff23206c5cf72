package org.sparkkinesis.emulator.wire.http

import java.util.UUID
import java.util.concurrent.ThreadLocalRandom

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.{Channel, ChannelFutureListener, ChannelHandlerContext, ServerChannel}
import io.netty.handler.codec.http._
import io.netty.handler.codec.http2.{DefaultHttp2GoAwayFrame, Http2Error}

/**
 * One complete HTTP request and its answer, for HTTP/1.1 and HTTP/2. Used on the event loop of its channel.
 *
 * @param body
 *   a heap buffer; the handler that created it releases it after the request is handled
 * @param dates
 *   the Date headers of answers
 */
final class Exchange(val ctx: ChannelHandlerContext, val head: HttpRequest, val body: ByteBuf, dates: HttpDates) {
  private val keepAlive = HttpUtil.isKeepAlive(head)

  val requestId: String = {
    val random = ThreadLocalRandom.current()
    new UUID(random.nextLong(), random.nextLong()).toString
  }

  def header(name: String): String = head.headers.get(name)
  def method: HttpMethod = head.method
  def path: String = head.uri.takeWhile(_ != '?')

  /** The query string of the request; empty for all calls of the API. */
  def query: String = head.uri.dropWhile(_ != '?').drop(1)

  def bodyArray: Array[Byte] = body.array
  def bodyOffset: Int = body.arrayOffset + body.readerIndex
  def bodyLength: Int = body.readableBytes

  /** Answers with a complete body and takes ownership of it. */
  def reply(status: Int, contentType: String, content: ByteBuf, headers: (String, String)*): Unit = {
    val response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), content)
    response.headers.setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes)
    setHeaders(response, contentType)
    headers.foreach { case (name, value) => response.headers.set(name, value) }
    val written = ctx.writeAndFlush(response)
    if (!keepAlive) written.addListener(ChannelFutureListener.CLOSE)
    ()
  }

  def replyEmpty(status: Int, contentType: String): Unit = reply(status, contentType, Unpooled.EMPTY_BUFFER)

  /** Starts a response whose content follows in parts. */
  def replyStreaming(contentType: String): Unit = {
    val response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK)
    HttpUtil.setTransferEncodingChunked(response, true)
    setHeaders(response, contentType)
    ctx.writeAndFlush(response)
    ()
  }

  /** The connection, which for HTTP/2 also carries other requests. */
  private def connection: Channel =
    if (ctx.channel.parent.isInstanceOf[ServerChannel]) ctx.channel else ctx.channel.parent

  def cut(): Unit = {
    connection.close()
    ()
  }

  /** Resets the HTTP/2 stream; closing an unfinished stream does that. With HTTP/1.1, closes the connection. */
  def resetStream(): Unit = {
    ctx.channel.close()
    ()
  }

  /** Tells an HTTP/2 client not to open more streams on this connection. */
  def goAway(): Unit = if (connection ne ctx.channel) {
    connection.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR))
    ()
  }

  private def setHeaders(response: HttpResponse, contentType: String): Unit = {
    response.headers
      .set("x-amzn-RequestId", requestId)
      .set("x-amz-id-2", requestId.replace("-", ""))
      .set(HttpHeaderNames.DATE, dates.now)
      .set(HttpHeaderNames.CONTENT_TYPE, contentType)
    if (!keepAlive) response.headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
    ()
  }
}
