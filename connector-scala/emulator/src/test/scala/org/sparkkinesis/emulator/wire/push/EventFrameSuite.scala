package org.sparkkinesis.emulator.wire.push

import java.util.HexFormat

import io.netty.buffer.{ByteBufUtil, UnpooledByteBufAllocator}
import software.amazon.eventstream.Message

import org.sparkkinesis.emulator.wire.push.EventFrame
import org.sparkkinesis.suite.TimedSuite

class EventFrameSuite extends TimedSuite {
  private def frame(headers: Seq[(String, String)], message: String = null): Array[Byte] = {
    val buffer =
      EventFrame.encode(UnpooledByteBufAllocator.DEFAULT, headers, 0)(p => p.obj(p.field("message", message)))
    try ByteBufUtil.getBytes(buffer)
    finally {
      buffer.release()
      ()
    }
  }

  test("the initial response equals the recorded sample, byte by byte") {
    assert(
      HexFormat.of().formatHex(frame(EventFrame.InitialResponse)) ==
        "00000068000000564e6817240d3a6d6573736167652d747970650700056576656e740b3a6576656e742d74797065070010696e6974" +
        "69616c2d726573706f6e73650d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b7dfe942c1d"
    )
  }

  test("the SDK's decoder decodes an exception frame") {
    val message =
      Message.decode(java.nio.ByteBuffer.wrap(frame(EventFrame.exception("ResourceInUseException"), "über")))
    assert(message.getHeaders.get(":message-type").getString == "exception")
    assert(message.getHeaders.get(":exception-type").getString == "ResourceInUseException")
    assert(new String(message.getPayload, "UTF-8") == """{"message":"über"}""")
  }
}
