package org.sparkkinesis.aws.transport

import java.io.IOException
import java.net.InetSocketAddress
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import io.netty.bootstrap.Bootstrap
import io.netty.channel.socket.nio.NioSocketChannel
import io.netty.channel.{
  Channel, ChannelFuture, ChannelInitializer, ChannelOption, EventLoopGroup, WriteBufferWaterMark
}
import io.netty.handler.codec.http.{HttpDecoderConfig, HttpResponseDecoder}
import io.netty.handler.proxy.HttpProxyHandler
import io.netty.handler.ssl.{SslContext, SslHandler}
import io.netty.resolver.NoopAddressResolverGroup
import io.netty.util.concurrent.{Future => NettyFuture}

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
  private lazy val secure = tls()
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
    if (isClosed) call.fail(new IllegalStateException("the client is closed"))
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

  private def connect(pool: ConnectionPool, target: Target, proxy: Option[Proxy]): Unit =
    try {
      val bootstrap = new Bootstrap()
        .group(loops)
        .channel(classOf[NioSocketChannel])
        .option[Integer](ChannelOption.CONNECT_TIMEOUT_MILLIS, network.connectTimeout.toMillis.toInt)
        .option[java.lang.Boolean](ChannelOption.TCP_NODELAY, true)
        .option[java.lang.Boolean](ChannelOption.SO_KEEPALIVE, true)
        .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WriteMarks)
      val host = proxy.fold(target.host)(_.host)
      val port = proxy.fold(target.port)(_.port)
      val names = HostNames.getResolver(loops.next())
      names.resolve(InetSocketAddress.createUnresolved(host, port)).addListener {
        (resolved: NettyFuture[_ >: InetSocketAddress]) =>
          if (!resolved.isSuccess) pool.refused(resolved.cause)
          else
            try connect(bootstrap, pool, target, proxy, resolved.getNow.asInstanceOf[InetSocketAddress])
            catch { case NonFatal(error) => pool.refused(error) }
      }
      ()
    } catch { case NonFatal(error) => pool.refused(error) }

  private def connect(
      bootstrap: Bootstrap,
      pool: ConnectionPool,
      target: Target,
      proxy: Option[Proxy],
      address: InetSocketAddress
  ): Unit = {
    bootstrap.handler(new Initializer(pool, target, proxy, address))
    val isTunnelled = target.secure && proxy.isDefined
    if (isTunnelled) bootstrap.resolver(NoopAddressResolverGroup.INSTANCE)
    // The handler of the tunnel connects to the proxy instead.
    val to = if (isTunnelled) InetSocketAddress.createUnresolved(target.host, target.port) else address
    bootstrap.connect(to).addListener { (done: ChannelFuture) =>
      def refused(cause: Throwable): Unit =
        pool.refused(Option(done.channel.pipeline.get(classOf[HttpConnection])).fold(cause)(_.failure(cause)))
      // A channel that was closed meanwhile has no handlers any more.
      def opened(): Unit = Option(done.channel.pipeline.get(classOf[HttpConnection])) match {
        case Some(connection) => connection.opened()
        case None => pool.refused(new IOException("The connection was closed before the request"))
      }
      if (!done.isSuccess) refused(done.cause)
      else
        handshake(done.channel) match {
          case None => opened()
          case Some(awaited) => awaited.addListener { (ended: NettyFuture[_ >: Channel]) =>
              if (ended.isSuccess) opened()
              else {
                done.channel.close()
                refused(ended.cause)
              }
            }
        }
    }
    ()
  }

  private def handshake(channel: Channel): Option[NettyFuture[Channel]] =
    Option(channel.pipeline.get(TlsName)).map(_.asInstanceOf[SslHandler].handshakeFuture)

  final private class Initializer(
      pool: ConnectionPool,
      target: Target,
      proxy: Option[Proxy],
      address: InetSocketAddress
  ) extends ChannelInitializer[Channel] {
    override def initChannel(channel: Channel): Unit = {
      val pipeline = channel.pipeline
      proxy.filter(_.secure).foreach(via => pipeline.addLast(tlsWith(channel, via.host, via.port)))
      if (target.secure) {
        proxy.foreach { via =>
          pipeline.addLast(via.user.fold(new HttpProxyHandler(address)) { user =>
            new HttpProxyHandler(address, user, via.password.getOrElse(""))
          })
        }
        pipeline.addLast(TlsName, tlsWith(channel, target.host, target.port))
      }
      pipeline.addLast(new HttpResponseDecoder(new HttpDecoderConfig().setMaxChunkSize(MaxPiece)))
      val forProxy = if (target.secure) None else proxy.map(authorization)
      pipeline.addLast(new HttpConnection(channel, pool, forProxy))
      ()
    }

    private def authorization(proxy: Proxy): Seq[(String, String)] = proxy.user.toSeq.map { user =>
      val both = s"$user:${proxy.password.getOrElse("")}".getBytes(UTF_8)
      "Proxy-Authorization" -> s"Basic ${Base64.getEncoder.encodeToString(both)}"
    }

    private def tlsWith(channel: Channel, host: String, port: Int): SslHandler = {
      val handler = secure.newHandler(channel.alloc, host, port)
      val parameters = handler.engine.getSSLParameters
      parameters.setEndpointIdentificationAlgorithm("HTTPS")
      handler.engine.setSSLParameters(parameters)
      handler.setHandshakeTimeoutMillis(HandshakeTimeout.toMillis)
      handler
    }
  }
}

private object HttpTransport {
  val TlsName = "tls"

  /** Shorter than the time after which a service closes an idle connection, which the service does not tell. */
  val LongestIdle: FiniteDuration = 60.seconds
  val SweepPeriod: FiniteDuration = 5.seconds
  val HandshakeTimeout: FiniteDuration = 10.seconds

  /** The decoder passes on what it has received, without a copy, up to this size. */
  val MaxPiece: Int = 1 << 20
  val WriteMarks = new WriteBufferWaterMark(256 * 1024, 512 * 1024)
}
