package org.sparkkinesis.aws.http

import io.netty.buffer.{ByteBuf, Unpooled}

import org.sparkkinesis.suite.TimedSuite

class BodyBytesSuite extends TimedSuite {
  private val content = Array.tabulate(5000)(_.toByte)

  /** Parts of the content in arrays with an offset, and in memory outside of the heap. */
  private def parts(size: Int): Seq[ByteBuf] = content.grouped(size).zipWithIndex.map { case (part, i) =>
    if (i % 2 == 0) Unpooled.wrappedBuffer(Array[Byte](9, 9) ++ part ++ Array[Byte](9), 2, part.length)
    else Unpooled.directBuffer(part.length).writeBytes(part)
  }.toSeq

  for {
    expected <- Seq(-1L, 0L, 1L, 4999L, 5000L, 5001L, 1L << 40)
    size <- Seq(1, 7, 1024, 5000)
  } test(s"parts of $size bytes give the content if $expected bytes are expected") {
    val bytes = new BodyBytes(expected)
    parts(size).foreach { part =>
      bytes.add(part)
      assert(part.release())
    }
    assert(bytes.toArray.sameElements(content))
  }

  test("a response without content has no bytes") {
    assert(Seq(-1L, 0L, 10L).forall(new BodyBytes(_).toArray.isEmpty))
  }
}
