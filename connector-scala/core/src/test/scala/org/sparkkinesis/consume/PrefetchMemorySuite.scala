package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.suite.TimedSuite

class PrefetchMemorySuite extends TimedSuite {
  test("a source gets the size that it asks for, up to half of the heap") {
    val heap = 1000L << 20
    assert(PrefetchMemory.granted(64L << 20, heap) == (64L << 20))
    assert(PrefetchMemory.granted(20L << 30, heap) == heap / 2)
  }

  test("sources share the memory in equal parts, and the part of an ended source goes to the others") {
    val memory = new PrefetchMemory(1200)
    val first = memory.open()
    assert(first.capacity == 1200)
    val others = Seq.fill(2)(memory.open())
    assert((first +: others).map(_.capacity) == Seq(400, 400, 400))
    memory.close(others.head)
    assert(first.capacity == 600)
    memory.close(others.last)
    memory.close(first)
    assert(memory.open().capacity == 1200)
  }

  test("a buffer with an explicit size does not take part") {
    val memory = new PrefetchMemory(1000)
    val shared = memory.open()
    memory.close(new PrefetchBuffer(5000))
    assert(shared.capacity == 1000)
  }

  test("a waiting shard continues when another source ends") {
    val memory = new PrefetchMemory(2000)
    val (buffer, other) = (memory.open(), memory.open())
    val grants = mutable.ArrayBuffer.empty[Long]
    val account = buffer.open(grants += _)
    account.ask(PrefetchAccount.Unknown)
    account.add(1000)
    account.ask(1000)
    assert(grants.size == 1 && buffer.isFull)
    memory.close(other)
    assert(grants.size == 2 && !buffer.isFull)
  }

  test("a buffer that shrank grants nothing until it is below its new size") {
    val memory = new PrefetchMemory(2000)
    val buffer = memory.open()
    val grants = mutable.ArrayBuffer.empty[Long]
    val account = buffer.open(grants += _)
    account.ask(PrefetchAccount.Unknown)
    account.add(900)
    memory.open()
    account.ask(300)
    assert(grants.size == 1)
    account.remove(800)
    assert(grants.size == 2)
  }
}
