package org.sparkkinesis.spark.session.checkpoint

import scala.collection.immutable.SortedMap

import org.sparkkinesis.model.{SequenceNumber, ShardId}
import org.sparkkinesis.plan.offset.{ShardPosition, SourceOffset, StreamOffset, StreamPhase}
import org.sparkkinesis.suite.TimedSuite

class ReadUpToStoreSuite extends TimedSuite {
  private def offset(number: Int): SourceOffset = SourceOffset(Seq(stream("orders", number)))

  private def stream(name: String, number: Int): StreamOffset = {
    val position: ShardPosition = ShardPosition.After(SequenceNumber(number.toString), 1000L)
    val arn = s"arn:aws:kinesis:us-east-1:123456789012:stream/$name"
    StreamOffset(name, arn, 1, SortedMap(ShardId.ofIndex(0) -> position))
  }

  test("a restarted query finds how far it has read after its last offset, and only for that offset") {
    val files = new MemoryFiles
    new ReadUpToStore(files).note(offset(1), offset(7))
    val restarted = new ReadUpToStore(files)
    assert(restarted.of(offset(1)) == offset(7))
    assert(restarted.of(offset(2)) == offset(2))
  }

  test("a repeated batch finds how far the query had read before it, also after the end of the batch was stored") {
    val files = new MemoryFiles
    val store = new ReadUpToStore(files)
    def at(orders: Int, returns: Int) = SourceOffset(Seq(stream("orders", orders), stream("returns", returns)))
    store.note(at(1, 1), at(2, 2))
    store.note(at(3, 1), at(4, 4))
    store.note(at(3, 1), at(5, 5))
    Seq(store, new ReadUpToStore(files)).foreach { both =>
      assert(both.of(at(3, 1)) == at(5, 5))
      assert(both.of(at(1, 1)) == at(2, 2))
      // The newer position of a stream that had no records in the batch.
      assert(both.of(at(1, 1).copy(version = 1)) == at(2, 5).copy(version = 1))
    }
    store.note(at(6, 6), at(7, 7))
    assert(store.of(at(3, 1)) == at(5, 5))
    assert(store.of(at(1, 1)) == at(1, 5))
  }

  test("a stream that is at the same position keeps its read position when another one has moved, joined or left") {
    val store = new ReadUpToStore(new MemoryFiles)
    def at(orders: Int, returns: Int) = SourceOffset(Seq(stream("orders", orders), stream("returns", returns)))
    store.note(at(1, 1), at(7, 8))
    assert(store.of(at(2, 1)) == at(2, 8))
    assert(store.of(at(1, 2)) == at(7, 2))
    assert(store.of(offset(1)) == offset(7))
    val other = stream("other", 3)
    assert(store.of(SourceOffset(Seq(stream("orders", 1), other))) == SourceOffset(Seq(stream("orders", 7), other)))
  }

  test("a stream that joined keeps its read position when another one was recreated, until a batch has it") {
    val store = new ReadUpToStore(new MemoryFiles)
    def all(version: Long)(streams: StreamOffset*) = SourceOffset(streams).copy(version = version)
    val joined = stream("joined", 5)
    store.note(
      all(1)(stream("orders", 1), stream("returns", 1)),
      all(2)(stream("orders", 7), stream("returns", 8), joined)
    )
    Seq(3, 4).foreach { number =>
      val remade = stream("orders", number).copy(creationMillis = 2)
      assert(store.of(all(1)(remade, stream("returns", 1))) == all(2)(remade, stream("returns", 8), joined))
    }
    val batch = all(2)(stream("orders", 2), stream("returns", 2), stream("joined", 6))
    assert(store.of(batch) == batch)
  }

  test("a stream keeps its read position and its phase, unless another version has changed that") {
    val store = new ReadUpToStore(new MemoryFiles)
    val parked = stream("returns", 8).copy(phase = StreamPhase.Parked(5, isDrained = false))
    store.note(
      SourceOffset(Seq(stream("orders", 1), stream("returns", 1))),
      SourceOffset(Seq(stream("orders", 7), parked))
    )
    val moved = SourceOffset(Seq(stream("orders", 2), stream("returns", 1)))
    assert(store.of(moved) == SourceOffset(Seq(stream("orders", 2), parked)))
    assert(
      store.of(moved.copy(version = 3)) ==
        SourceOffset(Seq(stream("orders", 2), stream("returns", 8))).copy(version = 3)
    )
  }

  test("a text that cannot be decoded is ignored") {
    val files = new MemoryFiles
    new ReadUpToStore(files).note(offset(1), offset(7))
    val name = files.names("").head
    Seq("", "{}\n{}", s"${files.read(name).get}\n{}\n{}", s"not an offset\n${files.read(name).get}").foreach { text =>
      files.write(name, text)
      assert(new ReadUpToStore(files).of(offset(1)) == offset(1), text)
    }
  }
}
