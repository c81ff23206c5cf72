package org.sparkkinesis.simulation.write

import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.PutEntry
import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.model.{ModelShard, PutCall, PutOffer}
import org.sparkkinesis.simulation.write.task.PutPace
import org.sparkkinesis.suite.TimedSuite

class PutPaceSuite extends TimedSuite {
  private val shard = new ModelShard(0, Nil, HashKeyRange.uniform(1).head, 0)
  private val other = new ModelShard(1, Nil, HashKeyRange.uniform(1).head, 0)

  private def call(entries: Int, bytes: Int, at: Long, throttled: Boolean = false, to: ModelShard = shard) = {
    val made = new PutCall(at, "executor-1", Vector.fill(entries)(PutEntry("k", None, new Array[Byte](bytes - 1))), at)
    made.offers = made.entries.map(entry => PutOffer(to, entry.size, throttled)).toVector
    made.answeredMillis = Some(at + 10)
    made
  }

  private def refuses(calls: PutCall*): Boolean = refuses(isLimited = true, calls: _*)
  private def refuses(isLimited: Boolean, calls: PutCall*): Boolean = {
    val pace = new PutPace(isLimited, countsRecords = true)
    try {
      calls.foreach(pace.add)
      pace.check()
      false
    } catch { case violation: Violation => violation.kind == "quota" }
  }

  test("a request has at most 500 records and 10 MiB, and no record of more than 1 MiB") {
    val mebibyte = 1024 * 1024
    assert(!refuses(call(500, 100, 0)))
    assert(refuses(call(501, 100, 0)))
    assert(refuses(call(0, 100, 0)))
    assert(!refuses(call(10, mebibyte, 0)))
    assert(refuses(call(11, mebibyte, 0)))
    assert(refuses(call(1, mebibyte + 1, 0)))
  }

  test("in the second after a shard was throttled, a process sends at most five times its documented rate to it") {
    val first = call(500, 10, 0, throttled = true)
    def rest(requests: Int, to: ModelShard = shard) = (1 to requests).map(i => call(500, 10, 10L + i, to = to))
    assert(!refuses(first +: rest(10): _*))
    assert(refuses(first +: rest(11): _*))
    assert(!refuses(isLimited = false, first +: rest(11): _*))
    assert(!refuses(first +: rest(11, other): _*))
    assert(!refuses(call(500, 10, 0) +: rest(11): _*))
    assert(!refuses(first +: (1 to 11).map(i => call(500, 10, 1011L + i)): _*))
    assert(refuses(first +: (1 to 6).map(i => call(10, 100000, 10L + i)): _*))
  }
}
