package org.sparkkinesis.aws.transport

import java.io.IOException
import java.nio.channels.ClosedChannelException
import java.util.concurrent.TimeUnit

import scala.util.{Failure, Success, Try}

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.{Channel, ChannelFuture, ChannelHandlerContext, ChannelInboundHandlerAdapter, ChannelOption}
import io.netty.handler.codec.DecoderException
import io.netty.handler.codec.http.{HttpContent, HttpResponse, HttpUtil, LastHttpContent}
import io.netty.handler.proxy.ProxyConnectException
import io.netty.util.ReferenceCountUtil

/**
 * One connection of a pool, as the last handler of its channel. It sends a request, passes the answer to the call, and
 * returns to the pool. A request is never sent again: when the connection ends after the first byte was sent, the call
 * fails, because the service may have received it.
 *
 * Only the channel's thread uses the fields, except `lastUse`.
 *
 * @param proxied
 *   headers for the proxy that receives the requests
 */
final private[transport] class HttpConnection(
    channel: Channel,
    pool: ConnectionPool,
    proxied: Option[Seq[(String, String)]]
) extends ChannelInboundHandlerAdapter {
  import HttpConnection._

  /** The `System.nanoTime` at which the last call ended. */
  @volatile private[transport] var lastUse: Long = System.nanoTime

  private var isPooled = false
  private var call: HttpCall[_] = null
  private var sentContent = 0
  private var isSent = false
  private var isBegun = false
  private var isKept = false

  /** Why the connection ends, if that is known. */
  private var reason: Throwable = null

  /** The time of the next check of the call's deadline. */
  private var nextCheck = Long.MaxValue

  /** Gives the connection, which is open, to its pool. */
  def opened(): Unit = {
    isPooled = true
    pool.connected(this)
  }

  /** Why the connection could not be opened. */
  def failure(otherwise: Throwable): Throwable =
    if (reason != null) reason else unwrapped(otherwise)

  /** Sends the request of a call. */
  def start(next: HttpCall[_]): Unit =
    if (channel.eventLoop.inEventLoop) run(next)
    else
      try channel.eventLoop.execute(() => run(next))
      catch { case error: java.util.concurrent.RejectedExecutionException => next.abandon(error) }

  /** Closes the connection if it still serves the call, which then fails with this reason. */
  def abort(served: HttpCall[_], why: Throwable): Unit = channel.eventLoop.execute { () =>
    if (call eq served) end(why)
  }

  /** Closes the connection at once: what the system has not sent yet is dropped. Its call fails with this reason. */
  def end(why: Throwable): Unit =
    if (!channel.eventLoop.inEventLoop) channel.eventLoop.execute(() => end(why))
    else {
      if (reason == null) reason = why
      if (channel.isOpen) closeAtOnce()
    }

  private def closeAtOnce(): Unit = {
    channel.config.setOption(ChannelOption.SO_LINGER, Integer.valueOf(0))
    // Past the handler of TLS, which would wait until its last message was sent.
    channel.pipeline.firstContext.close()
    ()
  }

  /** Closes the connection, which serves no call. */
  def close(): Unit = {
    channel.close()
    ()
  }

  private def run(next: HttpCall[_]): Unit =
    // The service has closed the idle connection. Nothing was sent, so another connection can serve the call.
    if (!channel.isActive || reason != null) pool.submit(next)
    else if (!next.begin(this)) pool.released(this)
    else
      Try(next.request.head(proxied)) match {
        case Success(head) =>
          call = next
          sentContent = 0
          isSent = false
          isBegun = false
          checkAt(next.limit.end)
          send(Unpooled.wrappedBuffer(head), next.request)
        case Failure(error) =>
          pool.released(this)
          next.failUnsent(error)
      }

  private def send(head: ByteBuf, request: HttpRequest): Unit =
    if (request.length <= SliceBytes) {
      sentContent = request.length
      val whole = Unpooled.wrappedBuffer(head, Unpooled.wrappedBuffer(request.content, 0, request.length))
      written(channel.writeAndFlush(whole), isLast = true)
    } else {
      channel.write(head)
      sendContent()
    }

  /** Sends the next parts of a large content, while the system takes them. */
  private def sendContent(): Unit = if (call != null && !isSent) {
    val request = call.request
    while (sentContent < request.length && channel.isWritable) {
      val length = math.min(SliceBytes, request.length - sentContent)
      val slice = Unpooled.wrappedBuffer(request.content, sentContent, length)
      sentContent += length
      written(channel.writeAndFlush(slice), sentContent == request.length)
    }
  }

  private def written(result: ChannelFuture, isLast: Boolean): Unit = {
    val sender = call
    result.addListener { (done: ChannelFuture) =>
      // The error of a connection that is already closed says nothing about the cause.
      if (!done.isSuccess) { if (!done.cause.isInstanceOf[ClosedChannelException]) end(unwrapped(done.cause)) }
      else if (isLast && (call eq sender)) isSent = true
    }
    ()
  }

  override def channelWritabilityChanged(context: ChannelHandlerContext): Unit = {
    sendContent()
    context.fireChannelWritabilityChanged()
    ()
  }

  override def channelRead(context: ChannelHandlerContext, message: AnyRef): Unit =
    try received(message)
    finally {
      ReferenceCountUtil.release(message)
      ()
    }

  private def received(message: AnyRef): Unit = {
    message match {
      case response: HttpResponse if reason == null => begun(response)
      case _ => ()
    }
    message match {
      case content: HttpContent if reason == null =>
        if (content.decoderResult.isFailure) end(notHttp(content.decoderResult.cause))
        else if (isBegun) {
          call.content(content.content)
          if (content.isInstanceOf[LastHttpContent]) ended()
        }
      case _ => ()
    }
  }

  private def begun(response: HttpResponse): Unit =
    if (response.decoderResult.isFailure) end(notHttp(response.decoderResult.cause))
    else if (call == null) end(new IOException("The service sent an answer without a request"))
    else {
      val status = response.status.code
      // An interim answer, such as 100, is followed by the answer.
      if (status >= 200) {
        isBegun = true
        isKept = HttpUtil.isKeepAlive(response)
        call.head(new AnswerHead(status, name => Option(response.headers.get(name))))
      }
    }

  private def ended(): Unit = {
    val done = call
    call = null
    isBegun = false
    // A request that is not wholly sent leaves the connection in a state that nobody knows.
    if (isKept && isSent) {
      lastUse = System.nanoTime
      // First, so that a call that follows finds the connection.
      pool.released(this)
    } else close()
    done.end()
  }

  override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit = end(unwrapped(cause))

  override def channelInactive(context: ChannelHandlerContext): Unit = {
    if (isPooled) pool.lost(this)
    val lost = call
    call = null
    if (lost != null) {
      val why =
        if (reason != null) reason
        else if (isBegun) new IOException("The connection was closed before the response was complete")
        else new IOException("The connection was closed before the response")
      if (isSent) lost.fail(why) else lost.failUnsent(why)
    }
    context.fireChannelInactive()
    ()
  }

  /** One timer serves the calls of a connection in turn, because nearly all of them end before it. */
  private def checkAt(deadline: Long): Unit = if (nextCheck == Long.MaxValue || deadline - nextCheck < 0) {
    nextCheck = deadline
    channel.eventLoop.schedule(
      (() => checkDeadline(deadline)): Runnable,
      math.max(0, deadline - System.nanoTime),
      TimeUnit.NANOSECONDS
    )
    ()
  }

  private def checkDeadline(planned: Long): Unit = if (planned == nextCheck) {
    nextCheck = Long.MaxValue
    if (call != null && channel.isOpen)
      if (call.limit.left == 0) call.abandon(call.limit.exceeded(late)) else checkAt(call.limit.end)
  }

  private def late: String =
    if (isBegun) "There was no complete response"
    else if (isSent) "There was no response"
    else "The request could not be sent"
}

private object HttpConnection {

  /** A larger content is sent in parts of this size, which bounds the memory outside of the heap. */
  val SliceBytes: Int = 128 * 1024

  def notHttp(cause: Throwable): IOException =
    new IOException(s"The service sent what is not a response of HTTP/1.1: ${cause.getMessage}", cause)

  /** Returns the error of the proxy or of TLS instead of what follows from it. */
  def unwrapped(cause: Throwable): Throwable =
    Iterator.iterate(cause)(_.getCause).takeWhile(_ != null).take(LongestChain).collectFirst {
      case refused: ProxyConnectException => refused
    }.getOrElse(cause match {
      case wrapped: DecoderException if wrapped.getCause != null => wrapped.getCause
      case other => other
    })

  /** A chain of causes may be a cycle. */
  private val LongestChain = 50
}
