package org.sparkkinesis.aws.transport

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.concurrent.duration._

import io.netty.channel.{Channel, ChannelHandler, EventLoopGroup}
import io.netty.handler.codec.http.{HttpDecoderConfig, HttpResponseDecoder}
import io.netty.handler.ssl.SslContext

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.network.{Network, Proxy}

/**
 * The HTTP/1.1 client for calls with many bytes: GetRecords, PutRecords and PutRecordBatch. It keeps connections, and
 * passes the bytes of an answer to its reader where they arrive, without collecting them. It neither repeats a request
 * nor follows a redirection. Thread-safe.
 *
 * Futures complete on event loops. A callback that blocks there until another call completes can deadlock.
 *
 * @param network
 *   proxy, number of connections to one host, and time to connect
 * @param tls
 *   for connections over TLS
 * @param loops
 *   not owned
 * @param released
 *   called when the client is closed and does not need the event loops any more
 */
final private[aws] class HttpTransport(
    network: Network,
    tls: () => SslContext,
    loops: EventLoopGroup,
    released: () => Unit = () => ()
) extends AutoCloseable {
  import HttpTransport._

  private val pools = new ConcurrentHashMap[Target, ConnectionPool]
  private val opener = new ChannelOpener(network, tls, loops)
  @volatile private var isClosed = false

  private val sweep = loops.scheduleWithFixedDelay(
    () => closeIdle(LongestIdle),
    SweepPeriod.toNanos,
    SweepPeriod.toNanos,
    TimeUnit.NANOSECONDS
  )

  /**
   * Makes a call. `cancel` requests its end, and the future completes when the service can receive nothing more of it.
   */
  def send[A](request: HttpRequest, reader: AnswerReader[A], limit: TimeLimit): AbortableFuture[A] = {
    val call = new HttpCall(request, reader, limit)
    if (isClosed) call.failUnsent(new IllegalStateException("the client is closed"))
    else {
      pools.computeIfAbsent(request.target, target => newPool(target)).submit(call)
      // A pool that was created while the client was closed.
      if (isClosed) closePools()
    }
    call.result
  }

  /** Ends all calls and closes all connections. */
  override def close(): Unit = {
    isClosed = true
    sweep.cancel(false)
    closePools()
    released()
  }

  /** Closes the connections that were idle for this time. */
  private[transport] def closeIdle(longest: FiniteDuration): Unit = pools.values.forEach(_.closeIdle(longest))

  private[transport] def openConnections: Int = pools.values.stream.mapToInt(_.size).sum

  private def closePools(): Unit = pools.values.forEach(_.close())

  private def newPool(target: Target): ConnectionPool = {
    val proxy = network.proxyFor(target.uri)
    new ConnectionPool(pool => connect(pool, target, proxy), network.maxConnections, expire)
  }

  /** Ends a call that waits for a connection at its deadline. */
  private def expire(call: HttpCall[_]): Unit = {
    val timer = loops.schedule(
      (() => call.expire()): Runnable,
      call.limit.left,
      TimeUnit.NANOSECONDS
    )
    call.result.whenComplete { (_, _) => timer.cancel(false); () }
    ()
  }

  private def connect(pool: ConnectionPool, target: Target, proxy: Option[Proxy]): Unit = {
    val forProxy = if (target.secure) None else proxy.map(authorization)
    opener.open(
      target,
      proxy,
      isTunnelled = target.secure,
      new OpenedConnection {
        @volatile private var connection: HttpConnection = null
        override def handlers(channel: Channel): Seq[ChannelHandler] = {
          connection = new HttpConnection(channel, pool, forProxy)
          Seq(new HttpResponseDecoder(new HttpDecoderConfig().setMaxChunkSize(MaxPiece)), connection)
        }
        override def opened(): Unit = connection.opened()
        override def refused(cause: Throwable): Unit =
          pool.refused(Option(connection).fold(cause)(_.failure(cause)))
      }
    )
  }

  private def authorization(proxy: Proxy): Seq[(String, String)] = proxy.user.toSeq.map { user =>
    val both = s"$user:${proxy.password.getOrElse("")}".getBytes(UTF_8)
    "Proxy-Authorization" -> s"Basic ${Base64.getEncoder.encodeToString(both)}"
  }
}

private object HttpTransport {

  /** Shorter than the time after which a service closes an idle connection, which the service does not tell. */
  val LongestIdle: FiniteDuration = 60.seconds
  val SweepPeriod: FiniteDuration = 5.seconds

  /** The decoder passes on what it has received, without a copy, up to this size. */
  val MaxPiece: Int = 1 << 20
}
