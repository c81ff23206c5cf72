package org.sparkkinesis.aws.subscription

import java.io.{ByteArrayOutputStream, IOException}

import scala.jdk.CollectionConverters._

import io.netty.buffer.Unpooled
import org.scalacheck.Gen
import software.amazon.eventstream.{HeaderValue, Message}

import org.sparkkinesis.suite.PropertySuite

/** Decodes messages that the SDK's library encoded. */
class EventStreamDecoderSuite extends PropertySuite {
  private def encode(headers: Map[String, String], payload: Array[Byte]): Array[Byte] = {
    val out = new ByteArrayOutputStream
    new Message(headers.view.mapValues(HeaderValue.fromString).toMap.asJava, payload).encode(out)
    out.toByteArray
  }
  private def decode(decoder: EventStreamDecoder, pieces: Seq[Array[Byte]]): Seq[(Map[String, String], String)] =
    pieces.flatMap { piece =>
      decoder.feed(Unpooled.wrappedBuffer(piece))
      Iterator.continually(decoder.next()).takeWhile(_ != null).map { message =>
        message.headers -> new String(message.bytes, message.payloadStart, message.payloadLength, "UTF-8")
      }.toVector
    }

  private val messages: Gen[List[(Map[String, String], String)]] = Gen.listOf(for {
    // The library does not encode empty names and values.
    headers <- Gen.mapOf(Gen.zip(Gen.identifier.map(_.take(50)), Gen.identifier))
    payload <- Gen.oneOf(Gen.alphaNumStr, Gen.const("x" * 100000), Gen.const("y" * 700000), Gen.const(""))
  } yield headers -> payload)

  test("messages are decoded from pieces of any size, also in reused buffers") {
    val buffers = new MessageBuffers
    forAllNoShrink(messages, Gen.choose(1, 5000)) { (sent, size) =>
      val bytes = Array.concat(sent.map { case (headers, payload) => encode(headers, payload.getBytes("UTF-8")) }: _*)
      assert(decode(new EventStreamDecoder(buffers), bytes.grouped(size).toSeq) == sent)
    }
  }

  test("the sample of a subscription's first message is decoded") {
    val sample =
      "00000068000000564e6817240d3a6d6573736167652d747970650700056576656e740b3a6576656e742d7479706507" +
        "0010696e697469616c2d726573706f6e73650d3a636f6e74656e742d747970650700106170706c69" +
        "636174696f6e2f6a736f6e7b7dfe942c1d"
    val bytes = sample.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
    assert(
      decode(new EventStreamDecoder(new MessageBuffers), Seq(bytes)) ==
        Seq(Map(
          ":message-type" -> "event",
          ":event-type" -> "initial-response",
          ":content-type" -> "application/json"
        ) ->
          "{}")
    )
  }

  test("a message with a changed byte is rejected or incomplete, and never decoded as another one") {
    val sound = encode(Map(":event-type" -> "SubscribeToShardEvent"), """{"Records":[]}""".getBytes("UTF-8"))
    forAll(Gen.choose(0, sound.length - 1), Gen.choose(1, 255)) { (at, change) =>
      val changed = sound.clone()
      changed(at) = (changed(at) ^ change).toByte
      val decoder = new EventStreamDecoder(new MessageBuffers)
      decoder.feed(Unpooled.wrappedBuffer(changed))
      val refused =
        try decoder.next() == null
        catch { case _: IOException => true }
      assert(refused)
    }
  }

  test("an invalid message length is rejected before memory is allocated") {
    for (length <- Seq(0, 15, -1, Int.MaxValue, 30 * 1024 * 1024)) {
      val decoder = new EventStreamDecoder(new MessageBuffers)
      decoder.feed(Unpooled.buffer(12).writeInt(length).writeInt(0).writeInt(0))
      intercept[IOException](decoder.next())
    }
  }

  test("large buffers are reused up to the limit of the pool, and small ones are not") {
    val buffers = new MessageBuffers(3L * MessageBuffers.Smallest)
    val large = Seq.fill(2)(buffers.take(2 * MessageBuffers.Smallest - 1))
    large.foreach(buffers.give)
    assert(buffers.take(2 * MessageBuffers.Smallest) eq large.head)
    assert(buffers.take(MessageBuffers.Smallest) ne large.last)
    buffers.give(large.head)
    assert(buffers.take(2 * MessageBuffers.Smallest + 1).length > 2 * MessageBuffers.Smallest)
    buffers.give(new Array[Byte](10))
    assert(buffers.take(10).length == 10)
  }
}
