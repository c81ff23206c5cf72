package org.sparkkinesis.concurrent

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.suite.TimedSuite

class SharedSuite extends TimedSuite {
  private class Rig(idleTime: FiniteDuration) {
    val time = new VirtualScheduler
    val made = mutable.ArrayBuffer.empty[String]
    val disposed = mutable.ArrayBuffer.empty[String]
    val shared = new Shared[String, String](
      key => {
        made += key
        s"value of $key"
      },
      value => disposed += value,
      idleTime,
      (delay, task) => time.schedule(delay)(task()): Unit
    )
  }

  test("holders of one key share a value, and each key has its own value") {
    val rig = new Rig(1.minute)
    assert(rig.shared.acquire("a").value eq rig.shared.acquire("a").value)
    assert(rig.shared.acquire("b").value == "value of b")
    assert(rig.made.toSeq == Seq("a", "b"))
    assert(rig.shared.size == 2)
  }

  test("a value without holders is disposed of after the idle time, and a second close has no effect") {
    val rig = new Rig(1.minute)
    val (first, second) = (rig.shared.acquire("a"), rig.shared.acquire("a"))
    first.close()
    first.close()
    rig.time.advance(2.minutes)
    assert(rig.disposed.isEmpty)
    second.close()
    rig.time.advance(59.seconds)
    assert(rig.disposed.isEmpty)
    rig.time.advance(1.second)
    assert(rig.disposed.toSeq == Seq("value of a"))
    assert(rig.shared.size == 0)
  }

  test("holding a value again within the idle time postpones its disposal") {
    val rig = new Rig(1.minute)
    rig.shared.acquire("a").close()
    rig.time.advance(30.seconds)
    rig.shared.acquire("a").close()
    rig.time.advance(45.seconds)
    assert(rig.disposed.isEmpty)
    rig.time.advance(15.seconds)
    assert(rig.disposed.size == 1)
    assert(rig.made.size == 1)
  }

  test("without an idle time a value is disposed of with its last holder, and the next holder gets a new value") {
    val rig = new Rig(Duration.Zero)
    rig.shared.acquire("a").close()
    assert(rig.disposed.size == 1)
    rig.shared.acquire("a")
    assert(rig.made.size == 2)
  }
}
