package org.sparkkinesis.spark.coordinator.state

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.suite.TimedSuite

class UnreachableStreamsSuite extends TimedSuite {
  import UnreachableStreams._

  private class Setup {
    val clock = new VirtualScheduler
    val streams = new UnreachableStreams(clock)
    var readers: Set[(String, String)] = Set("1" -> "orders", "2" -> "orders")

    /** Reports the stream as unreachable from some of three executors, and returns the newly avoided ones. */
    def report(unreachable: String*): Seq[String] = streams.avoid(
      Seq("1", "2", "3").map(id => id -> (if (unreachable.contains(id)) Set("orders") else Set.empty[String])).toMap,
      readers
    ).map(_._1)

    def avoided: Set[String] = streams.avoided("orders")
  }

  test("an executor that cannot reach a stream it reads is avoided if another one may reach it") {
    Seq[(Seq[String], Set[String], Seq[String])](
      (Seq("1"), Set("1", "2"), Seq("1")),
      (Seq("1", "2"), Set("1", "2"), Seq("1", "2")),
      (Seq("1", "2", "3"), Set("1", "2", "3"), Nil),
      (Seq("1"), Set("2"), Nil),
      (Nil, Set("1"), Nil)
    ).foreach { case (unreachable, reading, expected) =>
      val s = new Setup
      s.readers = reading.map(_ -> "orders")
      assert(s.report(unreachable: _*) == expected)
      assert(s.avoided == expected.toSet)
    }
  }

  test("an avoidance is returned once, and only for that stream") {
    val s = new Setup
    assert(s.report("1") == Seq("1"))
    assert(s.report("1") == Nil)
    assert(s.streams.avoided("clicks") == Set.empty[String])
  }

  test("the pause doubles up to its maximum, and starts again after an answer") {
    val s = new Setup
    def nextTime(): FiniteDuration = {
      s.report("1")
      val began = s.clock.nanoTime
      while (s.avoided.nonEmpty) s.clock.advance(1.second)
      (s.clock.nanoTime - began).nanos
    }
    assert(Seq.fill(7)(nextTime().toMinutes) == Seq[Long](1, 2, 4, 8, 16, 16, 16))
    s.streams.reached("1", "orders")
    assert(nextTime() == FirstPause)
  }

  test("during an outage of a day, the shards of three executors move at most a few hundred times") {
    val s = new Setup
    val readingSince = mutable.Map("1" -> -20L, "2" -> -10L, "3" -> 0L)
    var moves = 0
    (0L until 24 * 3600L by 10L).foreach { second =>
      // An avoided executor does not read the stream, and reports it only after it has read without success for a
      // while.
      readingSince --= s.avoided
      (Set("1", "2", "3") -- s.avoided).foreach(readingSince.getOrElseUpdate(_, second))
      s.readers = readingSince.keySet.map(_ -> "orders").toSet
      moves += s.report(readingSince.collect { case (id, since) if second - since >= 30 => id }.toSeq: _*).size
      s.clock.advance(10.seconds)
    }
    assert(moves > 0 && moves <= 3 * (5 + 24 * 60 / 16), s"$moves moves")
  }

  test("the avoidance of a lost executor ends") {
    val s = new Setup
    s.report("1")
    s.streams.forget("1")
    assert(s.avoided == Set.empty[String])
  }
}
