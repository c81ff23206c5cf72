package org.sparkkinesis.emulator

import java.net.Socket
import java.nio.charset.StandardCharsets.US_ASCII

import scala.util.Using

import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.wire.auth.EmulatorCredential
import org.sparkkinesis.suite.TimedSuite

class AdminPagesSuite extends TimedSuite {
  private val json = "Content-Type" -> "application/json"
  private val stream = """{"name":"s","shards":1}"""

  private def withEmulator(credentials: EmulatorCredential*)(body: (KinesisEmulator, JsonClient) => Any): Unit = {
    val emulator = KinesisEmulator.start(EmulatorConfig(credentials = credentials))
    try body(emulator, new JsonClient(emulator.endpoint))
    finally emulator.close()
  }

  test("without credentials the pages need no token") {
    withEmulator() { (emulator, client) =>
      assert(emulator.adminToken.isEmpty)
      assert(client.page("POST", "/_emulator/streams", stream, json).status == 200)
      assert(client.page("GET", "/", "").status == 200)
    }
  }

  test("with credentials every page needs the token") {
    withEmulator(EmulatorCredential("AKIAOWNER", "the-secret", "123456789012")) { (emulator, client) =>
      val token = emulator.adminToken.get
      val bearer = "Authorization" -> s"Bearer $token"
      Seq("GET" -> "calls", "DELETE" -> "calls", "POST" -> "streams", "POST" -> "clock", "DELETE" -> "faults").foreach {
        case (method, page) =>
          assert(client.page(method, s"/_emulator/$page", stream, json).status == 403, s"$method $page")
      }
      assert(client.page("GET", "/", "").status == 403)
      assert(emulator.admin.streamNames.isEmpty)
      assert(client.page("POST", "/_emulator/streams", stream, json, bearer).status == 200)
      assert(emulator.admin.streamNames.toSeq == Seq("s"))
      assert(client.page("GET", s"/?token=$token", "").status == 200)
      assert(!client.page("GET", "/", "").text.contains(token))
    }
  }

  test("requests that a foreign website can send through a browser have no effect") {
    withEmulator() { (emulator, client) =>
      val foreign = "Origin" -> "http://example.com"
      assert(client.page("POST", "/_emulator/streams", stream, json, foreign).status == 403)
      assert(client.page("POST", "/_emulator/streams", stream, "Content-Type" -> "text/plain").status == 415)
      assert(client.page("POST", "/_emulator/streams", stream).status == 415)
      assert(emulator.admin.streamNames.isEmpty)
    }
  }

  test("a foreign domain name that resolves to this machine is refused") {
    withEmulator() { (emulator, _) =>
      assert(statusLine(emulator.port, "example.com") == "HTTP/1.1 403 Forbidden")
      assert(statusLine(emulator.port, s"localhost:${emulator.port}") == "HTTP/1.1 200 OK")
    }
  }

  // The JDK's client sets the Host header itself.
  private def statusLine(port: Int, host: String): String = Using.resource(new Socket("127.0.0.1", port)) { socket =>
    socket.getOutputStream.write(
      s"GET /_emulator/calls HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n".getBytes(US_ASCII)
    )
    new String(socket.getInputStream.readAllBytes(), US_ASCII).linesIterator.next()
  }
}
