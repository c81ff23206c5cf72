package org.sparkkinesis.aws.client

import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.network.Network
import org.sparkkinesis.service.{PutEntry, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

/** A call that is given up has ended, with its connection, before its future says so. */
class AbandonedCallSuite extends TimedSuite {
  private val entries = IndexedSeq(PutEntry("key", None, Array[Byte](1, 2, 3)))

  private def withService(endpoint: Int => String, timeout: FiniteDuration)(
      body: (SilentServer, SdkKinesisService) => Unit
  ): Unit = {
    val server = new SilentServer
    val settings = ClientSettings.of(
      Some("us-east-1"),
      Some(endpoint(server.port)),
      CredentialSettings.Static("AKIDEXAMPLE", "secret", None)
    ).copy(network = Network.Standard.copy(requestTimeout = timeout))
    val service = SdkClients.create(settings)
    try body(server, service)
    finally {
      service.close()
      server.close()
    }
  }

  private def kindOf(future: java.util.concurrent.Future[_]): ServiceErrorKind =
    intercept[ExecutionException](future.get(60, TimeUnit.SECONDS)).getCause match {
      case error: ServiceException => error.kind
      case other => fail(s"not classified: $other", other)
    }

  test("PutRecords that is cancelled fails as a lost call, after its connection was closed") {
    withService(port => s"http://127.0.0.1:$port", 1.minute) { (server, service) =>
      val call = service.putRecords(StreamRef.ByName("s"), entries)
      server.asked.get(60, TimeUnit.SECONDS)
      assert(!call.cancel(true))
      assert(kindOf(call) == ServiceErrorKind.Network)
      server.hungUp.get(60, TimeUnit.SECONDS)
    }
  }

  test("PutRecords that has no answer within the request timeout is given up by the client") {
    // Long enough for a slow machine to send the request.
    withService(port => s"http://127.0.0.1:$port", 3.seconds) { (server, service) =>
      val call = service.putRecords(StreamRef.ByName("s"), entries)
      assert(kindOf(call) == ServiceErrorKind.Network)
      server.hungUp.get(60, TimeUnit.SECONDS)
    }
  }

  test("a call that is cancelled at once, twice, and when it is over fails once") {
    withService(port => s"http://127.0.0.1:$port", 1.minute) { (_, service) =>
      val call = service.putRecords(StreamRef.ByName("s"), entries)
      call.cancel(true)
      call.cancel(true)
      assert(kindOf(call) == ServiceErrorKind.Network)
      call.cancel(true)
    }
  }

  test("a TLS handshake that is never answered is a network error, so that it is tried again") {
    withService(port => s"https://127.0.0.1:$port", 30.seconds) { (_, service) =>
      assert(kindOf(service.putRecords(StreamRef.ByName("s"), entries)) == ServiceErrorKind.Network)
    }
  }
}
