package org.sparkkinesis.aws.transport

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException}
import java.net.{ConnectException, InetAddress, ServerSocket, URI}
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import javax.net.ssl.SSLHandshakeException

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.netty.buffer.ByteBuf
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.handler.codec.http2.Http2Error
import io.netty.handler.ssl.{ApplicationProtocolConfig, SslContext, SslContextBuilder}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.network.{Network, ProxyChoice}
import org.sparkkinesis.suite.TimedSuite

/** The HTTP/2 transport against servers that refuse, end streams and connections, or do not speak HTTP/2. */
class Http2TransportSuite extends TimedSuite with BeforeAndAfterAll with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(30, Seconds), Span(10, Millis))

  private val Window = 100000
  private val loops = new NioEventLoopGroup(2)

  override def afterAll(): Unit = {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS)
    ()
  }

  /** @param credits whether the reader takes all that arrives */
  private class Reader(credits: Boolean = true) extends StreamReader {
    val begun = new CompletableFuture[AnswerHead]
    val ended = new CompletableFuture[String]
    @volatile var call: Http2Call = null
    @volatile var size = 0
    private val bytes = new ByteArrayOutputStream

    override def begin(head: AnswerHead): Unit = {
      begun.complete(head)
      ()
    }
    override def content(part: ByteBuf): Unit = {
      size += part.readableBytes
      part.readBytes(bytes, part.readableBytes)
      take()
    }

    /** The first content may arrive before `call` is known. */
    def take(): Unit = if (credits) Option(call).foreach(_.credit())
    override def end(failure: Throwable): Unit = {
      if (failure == null) ended.complete(bytes.toString("UTF-8")) else ended.completeExceptionally(failure)
      ()
    }
  }

  private def transport(spread: Int = 1, tls: () => SslContext = () => trusting(None)): Http2Transport =
    new Http2Transport(Network.Standard.copy(proxy = ProxyChoice.Direct), tls, loops, Window, spread)

  private def trusting(pem: Option[Array[Byte]], protocols: String*): SslContext = {
    val builder = SslContextBuilder.forClient()
    pem.foreach(bytes => builder.trustManager(new ByteArrayInputStream(bytes)))
    if (protocols.nonEmpty) builder.applicationProtocolConfig(new ApplicationProtocolConfig(
      ApplicationProtocolConfig.Protocol.ALPN,
      ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
      ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
      protocols: _*
    ))
    builder.build()
  }

  private def request(target: Target, headers: (String, String)*): HttpRequest =
    new HttpRequest(target, "/", headers, "question".getBytes("UTF-8"), 8)

  private def send(over: Http2Transport, target: Target, reader: Reader = new Reader): Reader = {
    reader.call = over.send(request(target), reader)
    reader.call.execute(() => reader.take())
    reader
  }

  private def await[A](future: CompletableFuture[A]): A = future.get(40, TimeUnit.SECONDS)
  private def failure(reader: Reader): Throwable =
    await(reader.ended.handle[Throwable]((_, error) => Futures.unwrap(error)))

  private def withServer(maxStreams: Int = 100)(serve: Http2Server.Stream => Unit)(body: Http2Server => Unit): Unit =
    Using.resource(new Http2Server(maxStreams)(serve))(body)

  test("a request has its headers, and calls at a time share a connection") {
    val seen = new ConcurrentLinkedQueue[Http2Server.Stream]
    withServer() { stream =>
      seen.add(stream)
      if (seen.size == 5) seen.forEach(_.answer("answer"))
    } { server =>
      val over = transport()
      val readers = (1 to 5).map { _ =>
        val reader = new Reader
        reader.call = over.send(request(server.target, "X-Amz-Target" -> "Kinesis.Any"), reader)
        reader
      }
      readers.foreach { reader =>
        assert(await(reader.ended) == "answer")
        val head = await(reader.begun)
        assert((head.status, head.header("Date")) == ((200, Some("now"))))
      }
      assert(server.connections == 1)
      val names = Seq(":method", ":path", ":authority", ":scheme", "x-amz-target", "content-length")
      assert(names.map(seen.peek.header(_).get) ==
        Seq("POST", "/", server.target.authority, "http", "Kinesis.Any", "8"))
    }
  }

  test("a refusal is an answer, with or without content") {
    withServer() { stream =>
      stream.head(100)
      stream.head(400, isEnd = true)
    } { server =>
      val reader = send(transport(), server.target)
      assert(await(reader.ended) == "")
      assert(await(reader.begun).status == 400)
    }
  }

  test("more calls than a connection allows open another one") {
    val streams = new ConcurrentLinkedQueue[Http2Server.Stream]
    withServer(maxStreams = 2) { stream =>
      streams.add(stream)
      if (streams.size == 5) streams.forEach(_.answer("ok"))
    } { server =>
      val over = transport()
      (1 to 5).map(_ => send(over, server.target)).foreach(reader => assert(await(reader.ended) == "ok"))
      assert(server.connections == 3)
    }
  }

  test("calls are spread over some connections, and over no more") {
    withServer()(_.head(200)) { server =>
      val over = transport(spread = 3)
      val readers = (1 to 40).map(_ => send(over, server.target))
      readers.foreach(reader => assert(await(reader.begun).status == 200))
      assert(server.connections == 3)
      readers.foreach(_.call.cancel())
    }
  }

  test("a reader without credit holds one window of bytes, and delays no other call") {
    val streams = new ConcurrentLinkedQueue[Http2Server.Stream]
    withServer() { stream =>
      streams.add(stream)
      stream.head(200)
      // The pieces are as small as a frame.
      (1 to 40).foreach(i => stream.content(new Array[Byte](10000), isEnd = i == 40))
    } { server =>
      val over = transport()
      val slow = (1 to 3).map(_ => send(over, server.target, new Reader(credits = false)))
      eventually(assert(slow.forall(_.size == Window)))
      assert(await(send(over, server.target).ended).length == 400000)
      assert(slow.forall(_.size == Window))
      assert(server.connections == 1)
      // With credit, the others go on.
      slow.head.call.execute(() => slow.head.call.credit())
      eventually(assert(slow.head.size == 2 * Window))
      slow.foreach(_.call.cancel())
    }
  }

  test("a call that is cancelled is reset, gives its bytes back, and has no further callback") {
    val reset = new CountDownLatch(20)
    withServer() { stream =>
      stream.whenReset(() => reset.countDown())
      stream.head(200)
      (1 to 20).foreach(_ => stream.content(new Array[Byte](10000)))
    } { server =>
      val over = transport()
      // In turn, on one connection, whose window would soon be used up.
      (1 to 20).foreach { _ =>
        val reader = send(over, server.target, new Reader(credits = false))
        eventually(assert(reader.size == Window))
        reader.call.cancel()
        reader.call.cancel()
        assert(!reader.ended.isDone)
      }
      assert(reset.await(30, TimeUnit.SECONDS))
      assert(server.connections == 1)
    }
  }

  test("a call that is cancelled before it has a connection is not sent") {
    Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress)) { silent =>
      val over = transport()
      val target = Target(secure = false, "127.0.0.1", silent.getLocalPort)
      val cancelled = send(over, target)
      val other = send(over, target)
      val peer = silent.accept()
      cancelled.call.cancel()
      peer.close()
      assert(failure(other).isInstanceOf[IOException])
      assert(!cancelled.ended.isDone)
    }
  }

  private val ends: Seq[(String, Http2Server.Stream => Unit, String)] = Seq(
    ("the stream is refused", _.reset(Http2Error.REFUSED_STREAM), "REFUSED_STREAM"),
    (
      "the stream ends with an error",
      { stream =>
        stream.head(200)
        stream.reset(Http2Error.INTERNAL_ERROR)
      },
      "INTERNAL_ERROR"
    ),
    ("the connection is closed", _.closeConnection(), "before the response was complete")
  )
  for ((what, serve, text) <- ends) test(s"a call fails once when $what, and is not sent again") {
    withServer()(serve) { server =>
      val error = failure(send(transport(), server.target))
      assert(error.isInstanceOf[IOException] && error.getMessage.contains(text), error.toString)
      assert(server.requests == 1)
    }
  }

  test("a connection that goes away finishes its calls, and later ones use another one") {
    val streams = new ConcurrentLinkedQueue[Http2Server.Stream]
    withServer() { stream =>
      streams.add(stream)
      stream.head(200)
      if (streams.size == 1) stream.goAway()
    } { server =>
      val over = transport()
      val first = send(over, server.target)
      await(first.begun)
      eventually(assert(over.openConnections == 0))
      val second = send(over, server.target)
      await(second.begun)
      streams.asScala.foreach(_.content("rest".getBytes, isEnd = true))
      assert(Seq(first, second).map(reader => await(reader.ended)) == Seq("rest", "rest"))
      assert(server.connections == 2)
    }
  }

  test("all waiting calls fail when no connection can be opened") {
    val port = Using.resource(new ServerSocket(0))(_.getLocalPort)
    val over = transport()
    (1 to 3).map(_ => send(over, Target(secure = false, "127.0.0.1", port))).foreach { reader =>
      assert(failure(reader).isInstanceOf[ConnectException])
    }
  }

  test("a server that does not speak HTTP/2 fails the call") {
    Using.resource(new RawServer({ client =>
      client.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
      client.awaitEnd()
    })) { server =>
      val error = failure(send(transport(), server.target))
      assert(error.isInstanceOf[IOException] && error.getMessage.contains("is not HTTP/2"), error.toString)
    }
  }

  for ((how, protocols) <- Seq("with negotiation" -> Seq("h2"), "without negotiation" -> Nil))
    test(s"calls work over TLS $how, and fail if the certificate is not trusted") {
      Using.resource(KinesisEmulator.start(EmulatorConfig(quotas = false, tls = true))) { emulator =>
        val target = Target.of(URI.create(emulator.endpoint))
        val pem = emulator.certificatePem.getBytes("US-ASCII")
        val over = transport(tls = () => trusting(Some(pem), protocols: _*))
        assert(await(send(over, target).begun).status == 400)
        val refused = failure(send(transport(tls = () => trusting(None, protocols: _*)), target))
        assert(refused.isInstanceOf[SSLHandshakeException], refused.toString)
      }
    }

  test("a header that would add another one fails the call, and is not shown") {
    withServer()(_.answer("ok")) { server =>
      val reader = new Reader
      val over = transport()
      reader.call = over.send(request(server.target, "X-Any" -> "secret\r\nX-Other: 1"), reader)
      val error = failure(reader)
      assert(error.isInstanceOf[IllegalArgumentException] && !error.getMessage.contains("secret"))
      assert(await(send(over, server.target).ended) == "ok")
    }
  }
}
