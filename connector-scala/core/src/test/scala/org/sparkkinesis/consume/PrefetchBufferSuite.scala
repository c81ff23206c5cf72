package org.sparkkinesis.consume

import scala.collection.mutable
import scala.util.Random

import org.sparkkinesis.suite.TimedSuite

class PrefetchBufferSuite extends TimedSuite {

  /** A shard that fetches `batch` bytes whenever it may. */
  private class Shard(buffer: PrefetchBuffer, batch: Long) {
    var mayFetch = false
    var held = 0L
    val account: PrefetchAccount = buffer.open { granted =>
      assert(granted > 0)
      assert(!mayFetch, "granted twice")
      mayFetch = true
    }
    def ask(): this.type = { account.ask(batch); this }

    /** Fetches as long as it may, and returns the number of fetches. */
    def fill(): Int = {
      var fetched = 0
      while (mayFetch) {
        fetchOne()
        fetched += 1
      }
      fetched
    }
    def fetchOne(): Unit = {
      mayFetch = false
      held += batch
      account.add(batch)
      account.ask(batch)
    }
    def release(bytes: Long): Unit = {
      held -= bytes
      account.remove(bytes)
    }
  }

  test("a single busy shard uses nearly two thirds of the buffer and leaves the rest for others") {
    val buffer = new PrefetchBuffer(3000)
    val shard = new Shard(buffer, 10).ask()
    shard.fill()
    assert(shard.held >= 1800 && shard.held <= 2010, shard.held)
    assert(buffer.isFull)
  }

  test("busy shards share the capacity evenly") {
    val buffer = new PrefetchBuffer(10000)
    val shards = Vector.fill(10)(new Shard(buffer, 10).ask())
    while (shards.exists(_.mayFetch)) shards.foreach(s => if (s.mayFetch) s.fetchOne())
    assert(shards.map(_.held).max - shards.map(_.held).min <= 20)
    assert(buffer.usedBytes <= 10000 && buffer.usedBytes > 9000, buffer.usedBytes)
  }

  test("a shard that holds nothing may fetch even if the buffer is full") {
    val buffer = new PrefetchBuffer(1000)
    val hogs = Vector.fill(5)(new Shard(buffer, 100).ask())
    hogs.foreach(_.fill())
    val late = new Shard(buffer, 500).ask()
    assert(late.mayFetch)
    late.fetchOne()
    assert(!late.mayFetch)
  }

  test("prefetched children that cannot be released do not block their parents") {
    val buffer = new PrefetchBuffer(1000)
    val children = Vector.fill(20)(new Shard(buffer, 100).ask())
    children.foreach(_.fill())
    val parent = new Shard(buffer, 100).ask()
    var progress = 0
    for (_ <- 1 to 100) {
      progress += parent.fill()
      parent.release(parent.held)
    }
    assert(progress >= 100, progress)
  }

  test("waiting shards continue when there is space, starting with the one that uses least") {
    val buffer = new PrefetchBuffer(1000)
    val a = new Shard(buffer, 100).ask()
    val b = new Shard(buffer, 100).ask()
    while (a.mayFetch || b.mayFetch) Seq(a, b).foreach(s => if (s.mayFetch) s.fetchOne())
    assert(!a.mayFetch && !b.mayFetch)
    a.release(a.held)
    assert(a.mayFetch)
    a.fill()
    assert(a.held > 0)
  }

  test("the reservation of an unused grant is returned") {
    val buffer = new PrefetchBuffer(1000)
    val account = buffer.open(_ => ())
    account.ask(400)
    assert(buffer.usedBytes == 250L)
    account.settle()
    assert(buffer.usedBytes == 0L)
  }

  test("no batch is larger than a quarter of the fair share, independently of the free space") {
    val buffer = new PrefetchBuffer(100000)
    var largest = 0L
    val accounts = Vector.fill(10)(buffer.open(granted => largest = math.max(largest, granted)))
    for (expected <- Seq(0L, 10L, 1000L, 50000L); account <- accounts) {
      account.ask(expected)
      account.settle()
    }
    assert(largest == 2500L)
  }

  test("a second grant replaces an unused one") {
    val buffer = new PrefetchBuffer(1000)
    val account = buffer.open(_ => ())
    account.ask(100)
    account.ask(150)
    assert(buffer.usedBytes == 250L)
    account.add(10)
    assert(buffer.usedBytes == 10L)
    account.close()
    assert(buffer.usedBytes == 0L)
  }

  test("opening many shards of unknown batch size does not reserve the whole buffer") {
    for (shards <- Seq(1, 4, 100, 1000)) {
      val buffer = new PrefetchBuffer(100000)
      (1 to shards).foreach(_ => buffer.open(_ => ()).ask(PrefetchAccount.Unknown))
      assert(buffer.usedBytes <= 1.5 * buffer.capacity, s"$shards shards: ${buffer.usedBytes}")
    }
  }

  test("close returns all space, resumes other shards and ends all grants") {
    val buffer = new PrefetchBuffer(1000)
    val a = new Shard(buffer, 500).ask()
    a.fill()
    val b = new Shard(buffer, 100).ask()
    b.fill()
    assert(!b.mayFetch)
    a.account.close()
    assert(b.mayFetch)
    a.mayFetch = false
    a.account.ask(1)
    assert(!a.mayFetch)
    b.account.close()
    assert(buffer.usedBytes == 0L)
  }

  test(
    "random requests, additions and releases keep the sums correct and the limit respected, and no shard gets stuck"
  ) {
    for (seed <- 1 to 50) {
      val random = new Random(seed)
      val buffer = new PrefetchBuffer(10000)
      val shards = Vector.tabulate(8)(i => new Shard(buffer, 50L * (i + 1)).ask())
      val largest = shards.indices.map(i => 50L * (i + 1)).sum
      for (_ <- 1 to 2000) {
        val shard = shards(random.nextInt(shards.size))
        if (random.nextBoolean() && shard.mayFetch) shard.fetchOne()
        else if (shard.held > 0) shard.release(random.nextLong(shard.held) + 1)
        assert(buffer.usedBytes >= shards.map(_.held).sum, s"seed $seed")
        assert(buffer.usedBytes <= 10000 + 2 * largest, s"seed $seed: ${buffer.usedBytes}")
      }
      shards.foreach(s => if (s.held > 0) s.release(s.held))
      shards.foreach(s => assert(s.mayFetch, s"seed $seed"))
      val order = mutable.ArrayBuffer.from(shards)
      order.foreach(_.account.close())
      assert(buffer.usedBytes == 0L, s"seed $seed")
    }
  }
}
