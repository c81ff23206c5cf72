package org.sparkkinesis.emulator.engine.shard

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.suite.TimedSuite

class ShardSetSuite extends TimedSuite {
  private val budget = new MemoryBudget(1L << 20)

  private def shards(count: Int): Vector[ShardLog] = HashKeyRange
    .uniform(count)
    .zipWithIndex
    .map { case (range, i) => ShardLog(i.toLong, range, Nil, 0, 0, budget) }
    .toVector

  /** Counts the accesses to its items. */
  final private class Counted(items: Vector[ShardLog]) extends IndexedSeq[ShardLog] {
    var looks = 0
    override def length: Int = items.length
    override def apply(i: Int): ShardLog = {
      looks += 1
      items(i)
    }
  }

  test("a page accesses its own shards and the shards of one binary search, wherever it starts") {
    val all = shards(10000)
    val page = 1000
    // 2^14 is the first power of two above 10,000.
    val most = page + 14
    (0 until 10).foreach { i =>
      val counted = new Counted(all)
      val found = ShardSet.pageAfter(counted, i * page - 1L, page)(_ => true)
      assert(found.map(_.index) == Vector.tabulate(page)(n => (i * page + n).toLong))
      assert(counted.looks <= most, s"page $i looked ${counted.looks} times")
    }
  }

  test("shards that do not match are skipped, and a page after the last shard is empty") {
    val all = shards(100)
    assert(ShardSet.pageAfter(all, 10, 3)(_.index % 20 == 0).map(_.index) == Vector(20L, 40L, 60L))
    assert(ShardSet.pageAfter(all, 99, 3)(_ => true) == Vector.empty[ShardLog])
  }
}
