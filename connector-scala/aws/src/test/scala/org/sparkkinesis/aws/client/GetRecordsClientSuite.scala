package org.sparkkinesis.aws.client

import java.io.ByteArrayOutputStream
import java.net.{InetAddress, InetSocketAddress}
import java.util.concurrent.{ConcurrentHashMap, ExecutionException, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import com.sun.net.httpserver.{HttpExchange => ServerExchange, HttpServer}

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.network.Network
import org.sparkkinesis.service.{RecordPage, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

/** The connections and errors of GetRecords calls. */
class GetRecordsClientSuite extends TimedSuite {
  private val stream = StreamRef.ByName("s")
  private val Cbor = "application/x-amz-cbor-1.1"

  private val empty: Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new CBORFactory().createGenerator(bytes)) { json =>
      json.writeStartObject()
      json.writeStringField("NextShardIterator", "next")
      json.writeEndObject()
    }
    bytes.toByteArray
  }

  private def withService[A](
      endpoint: String,
      timeout: FiniteDuration = 30.seconds
  )(body: SdkKinesisService => A): A = {
    val credentials = CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
    val service = SdkClients.create(
      ClientSettings.of(Some("us-east-1"), Some(endpoint), credentials).copy(network =
        Network.Standard.copy(requestTimeout = timeout)
      )
    )
    try body(service)
    finally service.close()
  }

  private def withServer[A](answer: ServerExchange => Unit)(body: Int => A): A = {
    val server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), 0)
    server.createContext(
      "/",
      exchange => {
        exchange.getRequestBody.readAllBytes()
        answer(exchange)
        exchange.close()
      }
    )
    server.start()
    try body(server.getAddress.getPort)
    finally server.stop(0)
  }

  private def send(exchange: ServerExchange, status: Int, kind: String, body: Array[Byte], length: Long): Unit = {
    exchange.getResponseHeaders.set("Content-Type", kind)
    exchange.sendResponseHeaders(status, length)
    exchange.getResponseBody.write(body)
  }

  private def get(service: SdkKinesisService): RecordPage =
    service.getRecords(stream, "iterator", 10).get(30, TimeUnit.SECONDS)

  private def kindOf(body: => Any): ServiceErrorKind = intercept[ExecutionException](body).getCause match {
    case error: ServiceException => error.kind
    case other => fail(s"not classified: $other", other)
  }

  test("a call without an answer within the request timeout is a network error, and its connection is closed") {
    Using.resource(new SilentServer) { server =>
      withService(s"http://127.0.0.1:${server.port}", 3.seconds) { service =>
        assert(kindOf(get(service)) == ServiceErrorKind.Network)
        server.hungUp.get(10, TimeUnit.SECONDS)
      }
    }
  }

  test("a connection that ends in the middle of an answer is a network error") {
    withServer(send(_, 200, Cbor, empty.take(5), empty.length.toLong)) { port =>
      withService(s"http://127.0.0.1:$port")(service => assert(kindOf(get(service)) == ServiceErrorKind.Network))
    }
  }

  test("calls in turn use one connection, and one of the SDK, also after errors and answers that cannot be decoded") {
    val ports = ConcurrentHashMap.newKeySet[Int]
    var calls = 0
    withServer { exchange =>
      ports.add(exchange.getRemoteAddress.getPort)
      calls += 1
      calls % 3 match {
        case 0 => send(exchange, 200, Cbor, empty, empty.length.toLong)
        case 1 => send(exchange, 500, "application/x-amz-json-1.1", "{}".getBytes, 2)
        // Without Content-Length, in chunks.
        case _ => send(exchange, 200, Cbor, Array.fill[Byte](5000)(0), 0)
      }
    } { port =>
      withService(s"http://127.0.0.1:$port") { service =>
        (1 to 12).foreach(_ => service.getRecords(stream, "iterator", 10).handle[Unit]((_, _) => ()).get())
        assert(calls > 12)
        assert(ports.size == 2)
      }
    }
  }

  test("a closed service fails its GetRecords calls") {
    withServer(send(_, 200, Cbor, empty, empty.length.toLong)) { port =>
      withService(s"http://127.0.0.1:$port") { service =>
        assert(get(service).nextIterator == Some("next"))
        service.close()
        assert(kindOf(get(service)) == ServiceErrorKind.Client)
      }
    }
  }
}
