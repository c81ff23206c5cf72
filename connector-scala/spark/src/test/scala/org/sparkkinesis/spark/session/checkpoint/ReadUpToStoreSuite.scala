package org.sparkkinesis.spark.session.checkpoint

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset}
import org.sparkkinesis.suite.TimedSuite

class ReadUpToStoreSuite extends TimedSuite {
  private def offset(number: Int): SourceOffset = {
    val position: ShardPosition = ShardPosition.After(SequenceNumber(number.toString), 1000L)
    val arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    SourceOffset(Seq(StreamOffset("orders", arn, 1, SortedMap(ShardId.ofIndex(0) -> position))))
  }

  test("a restarted query finds how far it has read after its last offset, and only for that offset") {
    val files = new MemoryFiles
    new ReadUpToStore(files).note(offset(1), offset(7))
    val restarted = new ReadUpToStore(files)
    assert(restarted.of(offset(1)) == offset(7))
    assert(restarted.of(offset(2)) == offset(2))
  }

  test("a text that cannot be decoded is ignored") {
    val files = new MemoryFiles
    new ReadUpToStore(files).note(offset(1), offset(7))
    val name = files.names("").head
    Seq("", "{}\n{}", s"not an offset\n${files.read(name).get}").foreach { text =>
      files.write(name, text)
      assert(new ReadUpToStore(files).of(offset(1)) == offset(1), text)
    }
  }
}
