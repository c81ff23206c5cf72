package org.sparkkinesis.emulator

import java.io.{ByteArrayOutputStream, IOException}
import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.UTF_8

import scala.concurrent.duration._
import scala.util.Random

import com.fasterxml.jackson.dataformat.cbor.CBORFactory
import org.scalatest.BeforeAndAfterAll

import org.sparkkinesis.emulator.kit.{BufferLeaks, JsonClient}
import org.sparkkinesis.suite.TimedSuite

/**
 * For any input, the emulator answers with an error in the format of the service or closes the connection, and serves
 * the next client.
 */
class FuzzSuite extends TimedSuite with BeforeAndAfterAll {
  override protected def timeLimit: FiniteDuration = 2.minutes
  private lazy val emulator = {
    val up = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds, tls = true))
    up.admin.createStream("s", 1)
    up
  }
  override def afterAll(): Unit = emulator.close()

  /** Sends raw bytes, closes the sending side, and returns the answer. */
  private def send(bytes: Array[Byte]): String = {
    val socket = new Socket(InetAddress.getByName("127.0.0.1"), emulator.port)
    try {
      socket.setSoTimeout(10000)
      try {
        socket.getOutputStream.write(bytes)
        socket.shutdownOutput()
        new String(socket.getInputStream.readAllBytes(), UTF_8)
      } catch { case _: IOException => "" }
    } finally socket.close()
  }

  private def post(operation: String, contentType: String, body: Array[Byte], extra: String = ""): String = {
    val head = s"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: Kinesis_20131202.$operation\r\n" +
      s"Content-Type: $contentType\r\n${extra}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n"
    send(head.getBytes(UTF_8) ++ body)
  }

  private def assertServes(): Unit =
    assert(post("ListStreams", "application/x-amz-json-1.1", "{}".getBytes).startsWith("HTTP/1.1 200"))

  private val goodCbor: Array[Byte] = {
    val out = new ByteArrayOutputStream
    val generator = new CBORFactory().createGenerator(out)
    generator.writeStartObject()
    generator.writeStringField("StreamName", "s")
    generator.writeStringField("PartitionKey", "k")
    generator.writeBinaryField("Data", Array.fill[Byte](40)(7))
    generator.writeEndObject()
    generator.close()
    out.toByteArray
  }

  test("every truncation of a CBOR request is a SerializationException") {
    (1 until goodCbor.length).foreach { n =>
      val reply = post("PutRecord", "application/x-amz-cbor-1.1", goodCbor.take(n))
      assert(reply.startsWith("HTTP/1.1 400") && reply.contains("SerializationException"), s"$n bytes: $reply")
    }
    assert(post("PutRecord", "application/x-amz-cbor-1.1", goodCbor).startsWith("HTTP/1.1 200"))
  }

  test("random CBOR and JSON bodies get a client error") {
    val random = new Random(1)
    val operations = Seq("PutRecords", "GetRecords", "ListShards", "CreateStream", "SubscribeToShard")
    (1 to 300).foreach { i =>
      val body = random.nextBytes(random.nextInt(200) + 1)
      val kind = if (i % 2 == 0) "cbor" else "json"
      val reply = post(operations(i % operations.size), s"application/x-amz-$kind-1.1", body)
      assert(reply.startsWith("HTTP/1.1 400"), reply)
    }
  }

  test("a request with flipped bytes never causes an internal failure") {
    val random = new Random(2)
    (1 to 300).foreach { _ =>
      val body = goodCbor.clone()
      (0 to random.nextInt(4)).foreach(_ => body(random.nextInt(body.length)) = random.nextInt().toByte)
      val reply = post("PutRecord", "application/x-amz-cbor-1.1", body)
      assert(reply.startsWith("HTTP/1.1 200") || reply.startsWith("HTTP/1.1 400"), reply)
    }
  }

  test("deeply nested bodies and very large announced bodies are refused") {
    val nested = ("[" * 100000).getBytes(UTF_8)
    assert(post(
      "PutRecords",
      "application/x-amz-json-1.1",
      """{"Records":""".getBytes ++ nested
    ).startsWith("HTTP/1.1 400"))
    val huge = Array(0xbf, 0x64, 0x44, 0x61, 0x74, 0x61, 0x5a, 0x7f, 0xff, 0xff, 0xff).map(_.toByte)
    assert(post("PutRecord", "application/x-amz-cbor-1.1", huge).startsWith("HTTP/1.1 400"))
    val announced = send(
      ("POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: Kinesis_20131202.PutRecord\r\n" +
        "Content-Type: application/x-amz-json-1.1\r\nContent-Length: 9999999999\r\n\r\n").getBytes
    )
    assert(announced.startsWith("HTTP/1.1 413"), announced)
  }

  test("very large headers are refused, and neither they nor random bytes stop the server") {
    val header = post("ListStreams", "application/x-amz-json-1.1", "{}".getBytes, s"X-Long: ${"y" * 100000}\r\n")
    assert(header.startsWith("HTTP/1.1 400"), header.take(200))
    val random = new Random(3)
    (1 to 100).foreach(_ => send(random.nextBytes(random.nextInt(500) + 1)))
    assertServes()
  }

  test("invalid HTTP/2 and invalid TLS close only their own connection") {
    val random = new Random(4)
    val preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes
    (1 to 100).foreach { _ =>
      send(preface ++ random.nextBytes(random.nextInt(200) + 1))
      send(Array[Byte](0x16, 3, 1) ++ random.nextBytes(random.nextInt(200) + 1))
    }
    assertServes()
  }

  test("a client that sends single bytes is served and does not block others") {
    val body = "{}"
    val request = s"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: Kinesis_20131202.ListStreams\r\n" +
      s"Content-Type: application/x-amz-json-1.1\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n$body"
    val socket = new Socket(InetAddress.getByName("127.0.0.1"), emulator.port)
    try {
      socket.setTcpNoDelay(true)
      request.getBytes(UTF_8).zipWithIndex.foreach { case (byte, i) =>
        socket.getOutputStream.write(byte.toInt)
        socket.getOutputStream.flush()
        if (i % 50 == 0) assertServes()
      }
      assert(new String(socket.getInputStream.readAllBytes(), UTF_8).startsWith("HTTP/1.1 200"))
    } finally socket.close()
  }

  test("clients that disconnect during a request or an answer leave no resources behind") {
    val data = new Array[Byte](100 * 1024)
    (1 to 20).foreach(_ => emulator.admin.putRecord("s", "k", data))
    val client = new JsonClient(s"http://127.0.0.1:${emulator.port}")
    val iterator = JsonClient.at(
      client.ok(
        "GetShardIterator",
        """{"StreamName":"s","ShardId":"shardId-000000000000","ShardIteratorType":"TRIM_HORIZON"}"""
      ),
      "ShardIterator"
    )
    val body = s"""{"ShardIterator":"$iterator"}"""
    val head = "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: Kinesis_20131202.GetRecords\r\n" +
      s"Content-Type: application/x-amz-json-1.1\r\nContent-Length: ${body.length}\r\n\r\n"
    val request = (head + body).getBytes(UTF_8)
    Seq(request.length / 2, request.length - 1, request.length).foreach { sent =>
      val socket = new Socket(InetAddress.getByName("127.0.0.1"), emulator.port)
      socket.getOutputStream.write(request, 0, sent)
      socket.getOutputStream.flush()
      // Closing resets the connection while an answer of two megabytes is being sent.
      socket.setSoLinger(true, 0)
      socket.close()
    }
    assertServes()
  }

  test("no test above leaked a buffer") {
    assert(BufferLeaks.collect() == Nil)
  }
}
