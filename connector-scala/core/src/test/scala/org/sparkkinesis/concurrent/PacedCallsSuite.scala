package org.sparkkinesis.concurrent

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

class PacedCallsSuite extends TimedSuite {
  private class Rig {
    val time = new VirtualScheduler
    val calls = new PacedCalls[String, Int](time, 1.second)
    val made = mutable.ArrayBuffer.empty[(String, Long, CompletableFuture[Int])]

    def ask(key: String): CompletableFuture[Int] = calls(key) {
      val call = new CompletableFuture[Int]
      made += ((key, time.nanoTime / 1000000, call))
      call
    }
    def times: Seq[(String, Long)] = made.iterator.map(call => (call._1, call._2)).toSeq
  }

  test("the first call starts immediately, and callers within the period share the next call") {
    val rig = new Rig
    val first = rig.ask("a")
    rig.time.advance(300.millis)
    val others = Seq.fill(100)(rig.ask("a"))
    assert(rig.times == Seq("a" -> 0L))
    rig.time.advance(10.seconds)
    assert(rig.times == Seq("a" -> 0L, "a" -> 1000L))
    rig.made(0)._3.complete(1)
    assert(first.join() == 1 && others.forall(!_.isDone))
    rig.made(1)._3.complete(2)
    assert(others.map(_.join()).distinct == Seq(2))
  }

  test("a caller never shares a call that has started before, however long that takes") {
    val rig = new Rig
    rig.ask("a")
    rig.time.advance(5.seconds)
    val later = rig.ask("a")
    assert(rig.times == Seq("a" -> 0L, "a" -> 5000L))
    rig.made(0)._3.complete(1)
    assert(!later.isDone)
  }

  test("each key has its own calls, and no key is remembered longer than its calls need") {
    val rig = new Rig
    Seq("a", "b", "a", "b").foreach(rig.ask)
    rig.time.advance(1.second)
    assert(rig.times == Seq("a" -> 0L, "b" -> 0L, "a" -> 1000L, "b" -> 1000L))
    assert(rig.calls.size == 2)
    rig.time.advance(1.second)
    assert(rig.calls.size == 0 && rig.time.pending == 0)
  }

  test("callers that ask all the time cause one call in each period") {
    val rig = new Rig
    for (_ <- 1 to 100) {
      rig.ask("a")
      rig.time.advance(100.millis)
    }
    assert(rig.times.map(_._2) == (0 to 10).map(_ * 1000L))
  }

  test("a failed call fails its callers, also if it fails before it starts, and the next call is made") {
    val rig = new Rig
    val failed = rig.ask("a")
    val failure = new IllegalStateException("closed")
    val broken = rig.calls("a")(throw failure)
    rig.made(0)._3.completeExceptionally(failure)
    rig.time.advance(1.second)
    for (one <- Seq(failed, broken))
      assert(one.isCompletedExceptionally && one.handle((_, error) => Futures.unwrap(error)).join() == failure)
    rig.ask("a")
    rig.time.advance(1.second)
    assert(rig.times == Seq("a" -> 0L, "a" -> 2000L))
  }
}
