package org.sparkkinesis.aws.transport

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException}
import java.net.{ConnectException, InetAddress, ServerSocket, Socket, URI, UnknownHostException}
import java.util.concurrent.{
  CancellationException, CompletableFuture, CountDownLatch, Future, TimeUnit, TimeoutException
}
import javax.net.ssl.SSLHandshakeException

import scala.concurrent.duration._
import scala.util.Using

import io.netty.buffer.ByteBuf
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.handler.ssl.{SslContext, SslContextBuilder}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually

import org.sparkkinesis.aws.error.UnsentCall
import org.sparkkinesis.concurrent.Futures
import org.sparkkinesis.emulator.kit.BufferLeaks
import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}
import org.sparkkinesis.network.{Network, Proxy, ProxyChoice}
import org.sparkkinesis.suite.TimedSuite

/** The transport against servers that answer in pieces, wrongly, late or not at all. */
class HttpTransportSuite extends TimedSuite with BeforeAndAfterAll with Eventually {
  import RawServer._

  private val loops = new NioEventLoopGroup(2)

  override def afterAll(): Unit = {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS)
    ()
  }

  private case class Answer(status: Int, headers: String => Option[String], content: Seq[Byte]) {
    def text: String = new String(content.toArray, "UTF-8")
  }

  private class Collecting extends AnswerReader[Answer] {
    private var head: AnswerHead = null
    private val bytes = new ByteArrayOutputStream
    override def begin(answer: AnswerHead): Unit = head = answer
    override def content(part: ByteBuf): Unit = part.readBytes(bytes, part.readableBytes)
    override def end(): Answer = Answer(head.status, head.header, bytes.toByteArray.toSeq)
  }

  private def trustingNothing: SslContext = SslContextBuilder.forClient().build()

  private def withTransport[A](
      maxConnections: Int = 16,
      tls: () => SslContext = () => trustingNothing,
      proxy: Option[Proxy] = None
  )(body: HttpTransport => A): A = {
    val choice = proxy.fold[ProxyChoice](ProxyChoice.Direct)(ProxyChoice.Through(_))
    val network = Network.Standard.copy(maxConnections = maxConnections, proxy = choice)
    Using.resource(new HttpTransport(network, tls, loops))(body)
  }

  private def withServer[A](serve: Client => Unit)(body: (RawServer, HttpTransport) => A): A =
    Using.resource(new RawServer(serve))(server => withTransport()(body(server, _)))

  private def request(target: Target, content: String = "question", headers: Seq[(String, String)] = Nil): HttpRequest =
    new HttpRequest(target, "/", headers, content.getBytes("UTF-8"), content.length)

  private def send(
      transport: HttpTransport,
      target: Target,
      content: String = "question",
      timeout: FiniteDuration = 30.seconds
  ): CompletableFuture[Answer] = transport.send(request(target, content), new Collecting, new TimeLimit(timeout))

  private def await[A](call: Future[A]): A = call.get(40, TimeUnit.SECONDS)
  private def failure(call: CompletableFuture[_]): Throwable = ended(call) match {
    case unsent: UnsentCall => unsent.reason
    case sent => sent
  }
  private def ended(call: CompletableFuture[_]): Throwable =
    await(call.handle[Throwable]((_, error) => Futures.unwrap(error)))

  /** Whether the failure says that the service cannot have received the whole request. */
  private def isUnsent(call: CompletableFuture[_]): Boolean = ended(call).isInstanceOf[UnsentCall]

  private def chunked(pieces: String*): String =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
      pieces.map(piece => s"${piece.length.toHexString}\r\n$piece\r\n").mkString + "0\r\n\r\n"

  private val forms: Seq[(String, Client => Unit)] = Seq(
    "with Content-Length" -> (_.answer("answer".getBytes)),
    "in chunks" -> (_.send(chunked("an", "swe", "r"))),
    "byte by byte" -> (client => chunked("answer").foreach(byte => client.send(byte.toString))),
    "after interim answers" -> { client =>
      client.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n")
      client.answer("answer".getBytes)
    }
  )
  for ((how, answer) <- forms) test(s"answers $how are read, and calls in turn use one connection") {
    withServer(client => client.requests(_ => answer(client))) { (server, transport) =>
      (1 to 5).foreach(_ => assert(await(send(transport, server.target)).text == "answer"))
      assert((server.connections, server.requests) == ((1, 5)))
    }
  }

  test("a request has its headers and its content") {
    val seen = new CompletableFuture[Request]
    withServer(_.requests { request => seen.complete(request); () }) { (server, transport) =>
      val call = transport.send(
        request(server.target, "the content", Seq("X-Amz-Target" -> "any")),
        new Collecting,
        new TimeLimit(30.seconds)
      )
      val found = await(seen)
      assert(found.head.head == "POST / HTTP/1.1")
      assert(found.header("Host").contains(server.target.authority))
      assert(found.header("X-Amz-Target").contains("any"))
      assert(new String(found.content, "UTF-8") == "the content")
      call.cancel(true)
    }
  }

  Seq(
    "that the service closes after it" -> "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "without a length" -> "HTTP/1.1 200 OK\r\n\r\nok",
    "of HTTP/1.0" -> "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"
  ).foreach { case (what, text) =>
    test(s"the connection of an answer $what is not used again") {
      withServer { client =>
        client.request()
        client.send(text)
      } { (server, transport) =>
        (1 to 3).foreach(_ => assert(await(send(transport, server.target)).text == "ok"))
        assert((server.connections, server.requests) == ((3, 3)))
      }
    }
  }

  private val broken: Seq[(String, Client => Unit)] = Seq(
    "is reset before the request" -> (_.reset()),
    "is closed before the request" -> (_ => ()),
    "is reset after the request" -> { client =>
      client.request()
      client.reset()
    },
    "is closed after the request" -> (client => { client.request(); () }),
    "is closed in the headers" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nContent-")
    },
    "is closed in the content" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    },
    "is reset in the content" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      client.reset()
    },
    "is closed in a chunk" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nhalf")
    },
    "is closed between two chunks" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
    },
    "does not speak HTTP" -> { client =>
      client.request()
      client.send("220 mail.example.com ESMTP\r\n\r\n")
    },
    "sends a wrong chunk" -> { client =>
      client.request()
      client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
    }
  )
  for ((what, serve) <- broken) test(s"a call whose connection $what fails, and its request is not repeated") {
    withServer(serve) { (server, transport) =>
      val call = send(transport, server.target)
      val error = failure(call)
      assert(error.isInstanceOf[IOException], error.toString)
      assert(error.getMessage != null)
      assert(!isUnsent(call) || server.requests == 0, "the service may have received the request")
      assert(server.requests <= 1 && server.connections == 1)
    }
  }

  test("a connection that the service closes while it is idle fails no call") {
    val closed = new CountDownLatch(1)
    withServer { client =>
      client.request()
      client.answer("answer".getBytes)
      if (client.number == 1) {
        client.close()
        closed.countDown()
      } else client.requests(_ => client.answer("answer".getBytes))
    } { (server, transport) =>
      assert(await(send(transport, server.target)).text == "answer")
      assert(closed.await(10, TimeUnit.SECONDS))
      // A call that is sent before the close has arrived may fail.
      eventually(timeout(10.seconds))(assert(transport.openConnections == 0))
      assert((1 to 3).map(_ => await(send(transport, server.target)).text) == Seq.fill(3)("answer"))
      assert((server.connections, server.requests) == ((2, 4)))
    }
  }

  test("calls beyond the number of connections wait, and all are answered") {
    val begun = new CountDownLatch(8)
    Using.resource(new RawServer(client =>
      client.requests { request =>
        begun.countDown()
        begun.await(30, TimeUnit.SECONDS)
        client.answer(request.content)
      }
    )) { server =>
      withTransport(maxConnections = 8) { transport =>
        val calls = (1 to 200).map(i => send(transport, server.target, s"question $i"))
        assert(calls.map(await(_).text) == (1 to 200).map(i => s"question $i"))
        assert((server.connections, server.requests) == ((8, 200)))
      }
    }
  }

  test("contents of more than 10 MB are sent and received") {
    val large = Array.tabulate(12 << 20)(i => (i * 31 + i / 1000).toByte)
    withServer(client => client.requests(request => client.answer(request.content))) { (server, transport) =>
      (1 to 2).foreach { _ =>
        val call = transport.send(
          new HttpRequest(server.target, "/", Nil, large, large.length - 1),
          new Collecting,
          new TimeLimit(60.seconds)
        )
        assert(await(call).content.toArray.sameElements(large.init))
      }
      assert(server.connections == 1)
    }
  }

  test("a connection whose request was not sent completely when its answer arrived is not used again") {
    val large = new Array[Byte](64 << 20)
    withServer { client =>
      if (client.number == 1) {
        client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
        client.awaitEnd()
      } else client.requests(_ => client.answer("ok".getBytes))
    } { (server, transport) =>
      val call = transport.send(
        new HttpRequest(server.target, "/", Nil, large, large.length),
        new Collecting,
        new TimeLimit(60.seconds)
      )
      // The service may close the connection before the client has read the answer.
      call.handle[Unit]((answer, error) => assert(error != null || answer.status == 413)).get(60, TimeUnit.SECONDS)
      assert(await(send(transport, server.target)).text == "ok")
      assert(server.connections == 2)
    }
  }

  test("a call that ends before its request was sent completely has no effect, and says so") {
    val large = new Array[Byte](64 << 20)
    val (asked, ended) = (new CountDownLatch(1), new CountDownLatch(1))
    withServer { _ =>
      asked.countDown()
      ended.await(60, TimeUnit.SECONDS)
    } { (server, transport) =>
      val call = transport.send(
        new HttpRequest(server.target, "/", Nil, large, large.length),
        new Collecting,
        new TimeLimit(60.seconds)
      )
      assert(asked.await(10, TimeUnit.SECONDS))
      call.cancel(true)
      assert(isUnsent(call) && failure(call).isInstanceOf[CancellationException])
      ended.countDown()
    }
  }

  private val silent: Seq[(String, String, Client => Unit)] = Seq(
    ("an answer", "There was no response within 300 milliseconds", client => { client.request(); client.awaitEnd() }),
    (
      "the end of an answer",
      "There was no complete response within 300 milliseconds",
      client => {
        client.request()
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
        client.awaitEnd()
      }
    )
  )
  for ((what, text, serve) <- silent)
    test(s"a call without $what ends at its time limit, when its connection is closed") {
      val ended = new CountDownLatch(1)
      withServer { client =>
        serve(client)
        ended.countDown()
      } { (server, transport) =>
        val call = send(transport, server.target, timeout = 300.millis)
        val error = failure(call)
        assert(error.isInstanceOf[TimeoutException] && error.getMessage == text)
        assert(!isUnsent(call))
        assert(ended.await(10, TimeUnit.SECONDS))
      }
    }

  test("a call that finds no free connection ends at its time limit, and is not sent") {
    Using.resource(new RawServer(client => { client.request(); client.awaitEnd() })) { server =>
      withTransport(maxConnections = 1) { transport =>
        val first = send(transport, server.target)
        val second = send(transport, server.target, timeout = 300.millis)
        assert(failure(second).getMessage == "There was no free connection within 300 milliseconds")
        assert(isUnsent(second))
        first.cancel(true)
        assert(failure(first).isInstanceOf[CancellationException])
        // Whether it was sent before it was cancelled depends on the time to connect.
        assert(server.requests == 0 || !isUnsent(first))
        assert(server.requests <= 1)
      }
    }
  }

  test("each call of a connection has its own time limit") {
    withServer { client =>
      client.requests(request => if (request.content.length > 1) client.answer("ok".getBytes))
    } { (server, transport) =>
      assert(await(send(transport, server.target, "long", 1.second)).text == "ok")
      val began = System.nanoTime
      assert(failure(send(transport, server.target, "x", 300.millis)).getMessage.contains("within 300 milliseconds"))
      assert((System.nanoTime - began).nanos < 900.millis)
      assert(await(send(transport, server.target, "long", 300.millis)).text == "ok")
      val late = failure(send(transport, server.target, "x", 1.second)).getMessage
      assert(late == "There was no response within 1 second")
    }
  }

  test("a cancelled call ends after its connection was closed") {
    val (asked, ended) = (new CountDownLatch(1), new CompletableFuture[Unit])
    withServer { client =>
      client.request()
      asked.countDown()
      client.awaitEnd()
      ended.complete(())
    } { (server, transport) =>
      val call = send(transport, server.target)
      assert(asked.await(10, TimeUnit.SECONDS))
      assert(!call.cancel(true))
      assert(failure(call).isInstanceOf[CancellationException])
      assert(!isUnsent(call))
      await(ended)
    }
  }

  test("a call that is cancelled while it waits is not sent, and the others are") {
    val proceed = new CountDownLatch(1)
    Using.resource(new RawServer(client =>
      client.requests { request =>
        proceed.await(30, TimeUnit.SECONDS)
        client.answer(request.content)
      }
    )) { server =>
      withTransport(maxConnections = 1) { transport =>
        val calls = (1 to 5).map(i => send(transport, server.target, i.toString))
        calls(2).cancel(true)
        assert(failure(calls(2)).isInstanceOf[CancellationException])
        assert(isUnsent(calls(2)))
        proceed.countDown()
        assert(calls.patch(2, Nil, 1).map(await(_).text) == Seq("1", "2", "4", "5"))
        calls.head.cancel(true)
        assert((server.connections, server.requests) == ((1, 4)))
      }
    }
  }

  test("close ends calls that run and calls that wait, and refuses later ones") {
    val asked = new CountDownLatch(1)
    Using.resource(new RawServer(client => { client.request(); asked.countDown(); client.awaitEnd() })) { server =>
      withTransport(maxConnections = 1) { transport =>
        val calls = (1 to 3).map(_ => send(transport, server.target))
        assert(asked.await(10, TimeUnit.SECONDS))
        transport.close()
        (calls :+ send(transport, server.target)).foreach { call =>
          val error = failure(call)
          assert(error.isInstanceOf[IllegalStateException] && error.getMessage == "the client is closed")
        }
        assert(server.requests <= 1)
      }
    }
  }

  test("a refused connection fails each call once") {
    val port = Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress))(_.getLocalPort)
    withTransport(maxConnections = 4) { transport =>
      val calls = (1 to 20).map(_ => send(transport, Target(secure = false, "127.0.0.1", port)))
      calls.foreach(call => assert(failure(call).isInstanceOf[ConnectException]))
    }
  }

  test("an unknown host fails the call") {
    withTransport() { transport =>
      assert(failure(send(transport, Target(secure = false, "kinesis.invalid", 80))).isInstanceOf[UnknownHostException])
    }
  }

  test("an answer that its reader does not understand fails the call, and its connection is used again") {
    withServer(client => client.requests(_ => client.answer(new Array[Byte](100000)))) { (server, transport) =>
      def reader(where: String) = new AnswerReader[Unit] {
        private def failIn(place: String): Unit = if (place == where) throw new IllegalArgumentException(where)
        override def begin(head: AnswerHead): Unit = failIn("begin")
        override def content(bytes: ByteBuf): Unit = failIn("content")
        override def end(): Unit = failIn("end")
      }
      Seq("begin", "content", "end").foreach { where =>
        val call = transport.send(request(server.target), reader(where), new TimeLimit(30.seconds))
        assert(failure(call).getMessage == where)
      }
      assert(server.connections == 1)
    }
  }

  test("a header that would add another one fails the call, and is not shown") {
    withServer(client => client.requests(_ => client.answer("ok".getBytes))) { (server, transport) =>
      val call = transport.send(
        request(server.target, headers = Seq("X-Amz-Security-Token" -> "secret\r\nX-Other: 1")),
        new Collecting,
        new TimeLimit(30.seconds)
      )
      assert(failure(call).getMessage == "The header X-Amz-Security-Token has a character that HTTP does not allow")
      assert(await(send(transport, server.target)).text == "ok")
      assert(server.requests == 1)
    }
  }

  test("connections that were idle for long are closed") {
    val ended = new CountDownLatch(3)
    val proceed = new CountDownLatch(3)
    Using.resource(new RawServer({ client =>
      client.request()
      proceed.countDown()
      proceed.await(30, TimeUnit.SECONDS)
      client.answer("ok".getBytes)
      client.awaitEnd()
      ended.countDown()
    })) { server =>
      withTransport() { transport =>
        val calls = (1 to 3).map(_ => send(transport, server.target))
        calls.foreach(await(_))
        transport.closeIdle(1.hour)
        assert(ended.getCount == 3)
        transport.closeIdle(Duration.Zero)
        assert(ended.await(10, TimeUnit.SECONDS))
      }
    }
  }

  private def withSecureEmulator(body: (Target, () => SslContext) => Unit): Unit =
    Using.resource(KinesisEmulator.start(EmulatorConfig(quotas = false, tls = true))) { emulator =>
      val pem = emulator.certificatePem.getBytes("US-ASCII")
      def trusting = SslContextBuilder.forClient().trustManager(new ByteArrayInputStream(pem)).build()
      body(Target.of(URI.create(emulator.endpoint)), () => trusting)
    }

  test("calls work over TLS, and fail if the certificate is not trusted or is for another host") {
    withSecureEmulator { (target, trusting) =>
      withTransport(tls = trusting) { transport =>
        (1 to 20).map(_ => send(transport, target)).foreach(call => assert(await(call).status == 400))
      }
      Using.resource(new RawServer(tunnel(_, new CompletableFuture[Request]))) { proxy =>
        val via = Proxy("127.0.0.1", proxy.target.port, secure = false, Some("user"), Some("secret"))
        withTransport(tls = trusting, proxy = Some(via)) { transport =>
          val error = failure(send(transport, target.copy(host = "kinesis.invalid")))
          assert(error.isInstanceOf[SSLHandshakeException] && error.getMessage.contains("kinesis.invalid"))
        }
      }
      withTransport() { transport =>
        val error = failure(send(transport, target))
        assert(error.isInstanceOf[SSLHandshakeException], error.toString)
      }
    }
  }

  test("a server that does not speak TLS fails the call") {
    withServer { client =>
      client.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      client.awaitEnd()
    } { (server, transport) =>
      assert(failure(send(transport, server.target.copy(secure = true))).isInstanceOf[IOException])
    }
  }

  private val basic = "Basic dXNlcjpzZWNyZXQ="

  test("requests without TLS go to the proxy with the whole address and the proxy's credentials") {
    val seen = new CompletableFuture[Request]
    Using.resource(new RawServer(client =>
      client.requests { request =>
        seen.complete(request)
        client.answer("ok".getBytes)
      }
    )) { proxy =>
      val via = Proxy("127.0.0.1", proxy.target.port, secure = false, Some("user"), Some("secret"))
      withTransport(proxy = Some(via)) { transport =>
        assert(await(send(transport, Target(secure = false, "kinesis.invalid", 80))).text == "ok")
        val request = await(seen)
        assert(request.head.head == "POST http://kinesis.invalid/ HTTP/1.1")
        assert(request.header("Host").contains("kinesis.invalid"))
        assert(request.header("Proxy-Authorization").contains(basic))
      }
    }
  }

  /** Connects to the port that `CONNECT` names, on this machine, if the credentials are right. */
  private def tunnel(client: Client, seen: CompletableFuture[Request]): Unit = client.request().foreach { request =>
    seen.complete(request)
    if (request.header("Proxy-Authorization").contains(basic)) {
      val to = URI.create(s"tcp://${request.head.head.split(' ')(1)}")
      Using.resource(new Socket(InetAddress.getLoopbackAddress, to.getPort)) { service =>
        client.send("HTTP/1.1 200 Connection established\r\n\r\n")
        client.pipe(service)
      }
    } else client.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
  }

  test("requests over TLS go through a tunnel of the proxy, which needs its credentials") {
    withSecureEmulator { (target, trusting) =>
      Seq("secret" -> true, "wrong" -> false).foreach { case (password, passes) =>
        val seen = new CompletableFuture[Request]
        Using.resource(new RawServer(tunnel(_, seen))) { proxy =>
          val via = Proxy("127.0.0.1", proxy.target.port, secure = false, Some("user"), Some(password))
          withTransport(tls = trusting, proxy = Some(via)) { transport =>
            if (passes) (1 to 5).foreach(_ => assert(await(send(transport, target)).status == 400))
            else {
              val error = failure(send(transport, target))
              assert(error.isInstanceOf[IOException] && error.getMessage.contains("407"), error.toString)
            }
            assert(await(seen).head.head == s"CONNECT ${target.authority} HTTP/1.1")
            assert(proxy.connections == 1)
          }
        }
      }
    }
  }

  test("no buffer leaks") {
    // The suites before it in this JVM use the SDK's client, which loses buffers of streams that are reset.
    assert(BufferLeaks.collect().filterNot(_.contains("software.amazon.awssdk")) == Nil)
  }
}
