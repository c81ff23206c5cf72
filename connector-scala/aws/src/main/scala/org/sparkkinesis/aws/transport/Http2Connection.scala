package org.sparkkinesis.aws.transport

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale
import java.util.concurrent.{RejectedExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import io.netty.buffer.{ByteBuf, Unpooled}
import io.netty.channel.{Channel, ChannelHandler, ChannelHandlerContext, ChannelInboundHandlerAdapter}
import io.netty.handler.codec.http2._
import io.netty.util.concurrent.{Future => NettyFuture}

/**
 * One HTTP/2 connection of a pool. It sends requests and passes their answers to their calls. The window of a stream
 * bounds the bytes that arrive without credit. The window of the connection bounds nothing, so that a call whose reader
 * is slow delays no other call. A request is never sent again.
 *
 * Only the channel's thread uses the fields, except those that the pool guards.
 *
 * @param window
 *   number of bytes of an answer that may arrive without credit
 */
final private[transport] class Http2Connection(pool: Http2Pool, window: Int) extends OpenedConnection {
  import Http2Connection._

  /** Number of calls, which the pool guards. */
  private[transport] var calls = 0

  @volatile private var channel: Channel = null
  @volatile private var mostStreams = MaxStreams
  private val http2 = new DefaultHttp2Connection(false)
  private val callKey = http2.newKey()
  private var handler: Http2ConnectionHandler = null
  private var context: ChannelHandlerContext = null
  private var isOpen = false
  private var hasSettings = false
  private var isPooled = false
  private var isRetired = false
  private var isReading = false
  private var isPinged = false

  /** The `System.nanoTime` at which the last call ended. */
  private var lastUse = System.nanoTime
  private var widest = 0
  private var tick: NettyFuture[_] = null

  /** Why the connection ends, if that is known. */
  private var reason: Throwable = null

  /** Maximum number of calls at a time. */
  def maxCalls: Int = mostStreams

  override def handlers(opening: Channel): Seq[ChannelHandler] = {
    channel = opening
    http2.addListener(Frames)
    // The windows of the streams bound what arrives. With a bound for the connection, a few slow readers could hold it.
    http2.local.flowController(new DefaultHttp2LocalFlowController(http2, WindowUpdateRatio, true))
    handler = new Http2ConnectionHandlerBuilder()
      .connection(http2)
      .frameListener(Frames)
      .initialSettings(Http2Settings.defaultSettings.pushEnabled(false).initialWindowSize(window))
      .headerSensitivityDetector((name, _) => Secrets.contains(name.toString))
      .gracefulShutdownTimeoutMillis(0)
      .build()
    Seq(handler, Ends)
  }

  override def opened(): Unit = {
    isOpen = true
    channel.eventLoop.schedule(
      (
          () =>
            if (!isPooled) end(new TimeoutException(s"The service sent no settings of HTTP/2 within $SettingsTimeout"))
      ): Runnable,
      SettingsTimeout.toNanos,
      TimeUnit.NANOSECONDS
    )
    join()
  }

  override def refused(cause: Throwable): Unit =
    pool.refused(if (reason != null) reason else HttpConnection.unwrapped(cause))

  /** Joins the pool when the service has told how many streams it allows. */
  private def join(): Unit = if (isOpen && hasSettings && !isPooled && reason == null) {
    isPooled = true
    context = channel.pipeline.context(handler)
    tick = channel.eventLoop.scheduleAtFixedRate(
      () => check(),
      PingPeriod.toNanos,
      PingPeriod.toNanos,
      TimeUnit.NANOSECONDS
    )
    pool.connected(this)
  }

  /** Closes a connection that does not answer, or that has had no call for long. */
  private def check(): Unit =
    if (isPinged) end(new IOException(s"The service did not answer a ping of HTTP/2 within $PingPeriod"))
    else if (System.nanoTime - lastUse > LongestIdle.toNanos && pool.retiredIfUnused(this)) close()
    else {
      isPinged = true
      handler.encoder.writePing(context, false, 0L, context.newPromise())
      handler.flush(context)
      ()
    }

  /** Sends the request of a call. */
  def start(call: Http2Call): Unit = execute(() => send(call), error => call.end(error))

  /** Ends the stream of a call. */
  def reset(call: Http2Call): Unit = execute { () =>
    if (call.stream > 0 && http2.stream(call.stream) != null) {
      handler.resetStream(context, call.stream, Http2Error.CANCEL.code, context.newPromise())
      handler.flush(context)
      ()
    }
  }

  /** Called on the channel's thread. */
  def credit(streamId: Int, bytes: Int): Unit = {
    val stream = http2.stream(streamId)
    if (stream != null && http2.local.flowController.consumeBytes(stream, bytes) && !isReading) {
      handler.flush(context)
      ()
    }
  }

  /** Runs a task on the channel's thread, or nothing if that has ended with the JVM's event loops. */
  def execute(task: Runnable): Unit = execute(task, _ => ())

  private def execute(task: Runnable, otherwise: Throwable => Unit): Unit =
    if (channel.eventLoop.inEventLoop) task.run()
    else
      try channel.eventLoop.execute(task)
      catch { case error: RejectedExecutionException => otherwise(error) }

  private def send(call: Http2Call): Unit =
    // Nothing was sent, so another connection can serve the call.
    if (isRetired || !channel.isActive) {
      pool.submit(call)
      pool.released(this)
    } else if (!call.begin(this)) pool.released(this)
    else
      try {
        val headers = headersOf(call.request)
        val id = http2.local.incrementAndGetNextStreamId
        val sent = handler.encoder.writeHeaders(context, id, headers, 0, false, context.newPromise())
        val stream = Option(http2.stream(id)).getOrElse {
          throw new IOException("The request could not be sent", sent.cause)
        }
        stream.setProperty(callKey, call)
        call.sentAs(id)
        widen()
        val content = Unpooled.wrappedBuffer(call.request.content, 0, call.request.length)
        handler.encoder.writeData(context, id, content, 0, true, context.newPromise())
        handler.flush(context)
        ()
      } catch {
        case NonFatal(error) =>
          if (call.stream > 0) end(error)
          else {
            pool.released(this)
            call.end(error)
          }
      }

  private def headersOf(request: HttpRequest): Http2Headers = {
    val headers = new DefaultHttp2Headers()
      .method("POST")
      .scheme(if (request.target.secure) "https" else "http")
      .authority(request.target.authority)
      .path(request.path)
    headers.add("content-length", request.length.toString)
    request.headers.foreach { case (name, value) =>
      HttpRequest.check(name, value)
      headers.add(name.toLowerCase(Locale.ROOT), value)
    }
    headers
  }

  /** Gives the connection a window for one more stream if it never had as many: it bounds what is on its way. */
  private def widen(): Unit = if (http2.numActiveStreams > widest) {
    widest += 1
    http2.local.flowController.incrementWindowSize(http2.connectionStream, window)
  }

  /** Closes the connection at once. Its calls fail with this reason. */
  private def end(why: Throwable): Unit = {
    if (reason == null) reason = why
    retire()
    close()
  }

  private def close(): Unit = {
    isRetired = true
    // Past the handlers of HTTP/2 and TLS, which would wait until their last messages were sent.
    channel.pipeline.firstContext.close()
    ()
  }

  private def retire(): Unit = if (!isRetired) {
    isRetired = true
    if (isPooled) pool.retired(this)
  }

  private def callOf(stream: Http2Stream): Http2Call =
    if (stream == null) null else stream.getProperty[Http2Call](callKey)

  private object Frames extends Http2EventAdapter {
    override def onSettingsRead(context: ChannelHandlerContext, settings: Http2Settings): Unit = {
      val allowed = settings.maxConcurrentStreams
      if (allowed != null) mostStreams = math.min(allowed, MaxStreams.toLong).toInt
      hasSettings = true
      join()
    }

    override def onHeadersRead(
        context: ChannelHandlerContext,
        streamId: Int,
        headers: Http2Headers,
        padding: Int,
        isEnd: Boolean
    ): Unit = {
      val call = callOf(http2.stream(streamId))
      if (call != null) {
        // There is no status in headers after the content.
        val status = Option(headers.status).flatMap(_.toString.toIntOption).getOrElse(0)
        // An interim answer, such as 100, is followed by the answer.
        if (status >= 200) call.head(new AnswerHead(
          status,
          name => Option(headers.get(name.toLowerCase(Locale.ROOT))).map(_.toString)
        ))
        if (isEnd) call.end(null)
      }
    }

    override def onHeadersRead(
        context: ChannelHandlerContext,
        streamId: Int,
        headers: Http2Headers,
        dependency: Int,
        weight: Short,
        exclusive: Boolean,
        padding: Int,
        isEnd: Boolean
    ): Unit = onHeadersRead(context, streamId, headers, padding, isEnd)

    override def onDataRead(
        context: ChannelHandlerContext,
        streamId: Int,
        bytes: ByteBuf,
        padding: Int,
        isEnd: Boolean
    ): Int = {
      val size = bytes.readableBytes + padding
      val call = callOf(http2.stream(streamId))
      if (call == null) size
      else {
        isReading = true
        try call.received(bytes, size)
        finally isReading = false
        if (isEnd) call.end(null)
        // The call gives the credit.
        0
      }
    }

    override def onRstStreamRead(context: ChannelHandlerContext, streamId: Int, code: Long): Unit = {
      val call = callOf(http2.stream(streamId))
      if (call != null)
        call.reason = new IOException(s"The service ended the stream with the HTTP/2 error ${nameOf(code)}")
    }

    override def onPingAckRead(context: ChannelHandlerContext, data: Long): Unit = isPinged = false

    /** The service ends the connection when its streams have ended. */
    override def onGoAwayReceived(lastStreamId: Int, code: Long, text: ByteBuf): Unit = {
      if (reason == null && code != Http2Error.NO_ERROR.code)
        reason = new IOException(s"The service ended the connection with the HTTP/2 error ${nameOf(code)}")
      retire()
    }

    /** What arrived is not valid. */
    override def onGoAwaySent(lastStreamId: Int, code: Long, text: ByteBuf): Unit =
      if (reason == null && code != Http2Error.NO_ERROR.code)
        reason = new IOException(s"The service sent what is not HTTP/2: ${text.toString(UTF_8)}")

    override def onStreamClosed(stream: Http2Stream): Unit = {
      val call = callOf(stream)
      if (call != null) {
        lastUse = System.nanoTime
        // First, so that a call that follows finds room.
        pool.released(Http2Connection.this)
        call.end(
          if (call.reason != null) call.reason
          else if (reason != null) reason
          else new IOException("The connection was closed before the response was complete")
        )
      }
      if (isRetired && http2.numActiveStreams == 0) close()
    }
  }

  /** The last handler: errors and the end of the connection. */
  private object Ends extends ChannelInboundHandlerAdapter {
    override def exceptionCaught(context: ChannelHandlerContext, cause: Throwable): Unit =
      end(HttpConnection.unwrapped(cause))

    override def channelInactive(context: ChannelHandlerContext): Unit = {
      if (tick != null) tick.cancel(false)
      retire()
      if (isOpen && !isPooled) pool.refused(
        if (reason != null) reason else new IOException("The connection was closed before its settings of HTTP/2")
      )
      context.fireChannelInactive()
      ()
    }
  }
}

private object Http2Connection {

  /** The values of these headers are not kept in the table that compresses headers. */
  val Secrets: Set[String] = Set("authorization", "x-amz-security-token")

  /** More are not useful on one connection. A service that allows fewer says so. */
  val MaxStreams = 250
  val SettingsTimeout: FiniteDuration = 10.seconds

  /** A window is renewed when this part of it is left, as Netty does. */
  val WindowUpdateRatio = 0.5f

  /** As in KCL and Flink. */
  val PingPeriod: FiniteDuration = 60.seconds
  val LongestIdle: FiniteDuration = 60.seconds

  def nameOf(code: Long): String = Option(Http2Error.valueOf(code)).fold(code.toString)(_.name)
}
