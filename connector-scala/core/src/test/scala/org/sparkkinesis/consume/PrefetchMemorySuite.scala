package org.sparkkinesis.consume

import scala.collection.mutable

import org.sparkkinesis.suite.TimedSuite

class PrefetchMemorySuite extends TimedSuite {
  test("a source gets the size that it asks for, up to half of the heap") {
    val heap = 1000L << 20
    assert(PrefetchMemory.granted(64L << 20, heap) == (64L << 20))
    assert(PrefetchMemory.granted(20L << 30, heap) == heap / 2)
  }

  /** Uses this many bytes of a buffer. */
  private def use(buffer: PrefetchBuffer, bytes: Long): PrefetchAccount = {
    val account = buffer.open(_ => ())
    account.add(bytes)
    account
  }

  test("each source has its part of half of the memory, and sources that need more share the other half") {
    val memory = new PrefetchMemory(1200)
    val first = memory.open()
    assert(first.capacity == 1200)
    val others = Seq.fill(2)(memory.open())
    assert((first +: others).map(_.capacity) == Seq(800, 800, 800), "no source uses its memory")
    val account = use(first, 700)
    assert(first.capacity == 800 && others.map(_.capacity) == Seq(300, 300), "500 bytes of the second half are used")
    use(others.head, 250)
    assert(first.capacity == 750 && others.last.capacity == 250)
    account.close()
    assert(others.last.capacity == 750)
    memory.close(others.head)
    assert(first.capacity == 900)
    memory.close(others.last)
    memory.close(first)
    assert(memory.open().capacity == 1200)
  }

  test("a busy source beside 199 idle ones has half of the memory") {
    val memory = new PrefetchMemory(512L << 20)
    val busy = memory.open()
    val idle = Seq.fill(199)(memory.open())
    idle.foreach(use(_, 10000))
    assert(busy.capacity > (256L << 20))
    use(busy, busy.capacity)
    assert(idle.forall(_.capacity >= (512L << 20) / 2 / 200), "an idle one can become busy")
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
    use(memory.open(), 1400)
    account.ask(300)
    assert(grants.size == 1)
    account.remove(800)
    assert(grants.size == 2)
  }
}
