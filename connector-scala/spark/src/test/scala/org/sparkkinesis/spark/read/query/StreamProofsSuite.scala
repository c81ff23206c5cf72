package org.sparkkinesis.spark.read.query

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.spark.session.check.RecreatedStreams.Found
import org.sparkkinesis.suite.TimedSuite

class StreamProofsSuite extends TimedSuite {
  private val Same = Found(Set.empty, Set.empty)

  final private class Rig(answers: Map[String, Found] = Map.empty) {
    val time = new VirtualScheduler(0)
    var described = Vector.empty[String]
    var proven = Set.empty[String]
    var missing = Set.empty[String]
    private val proofs = new StreamProofs(
      arn => {
        described :+= arn
        time.advance(20.millis)
        answers.getOrElse(arn, Same)
      },
      time
    )

    def check(streams: String*): Unit = check(streams.map(_ -> None).toMap)

    /** @param streams since when each with a shard without an answer needs a description */
    def check(streams: Map[String, Option[Long]], isLast: Boolean = false): Unit = {
      described = Vector.empty
      proven = Set.empty
      val began = time.nanoTime
      proofs.check(
        streams,
        (found, nanos, absent) => {
          proven = found
          missing = absent
          assert(nanos == began)
        },
        isLast
      )
    }
  }

  test("few streams are described at once, those first that were not described for longest, with pauses") {
    val rig = new Rig
    rig.check("a", "b", "c", "d", "e", "f")
    assert(rig.described.size == StreamProofs.AtOnce)
    assert(rig.proven == rig.described.toSet)
    val others = Set("a", "b", "c", "d", "e", "f") -- rig.proven
    rig.check(others.toSeq: _*)
    assert(rig.described.isEmpty)
    rig.time.advance(StreamProofs.Pause)
    rig.check("a", "b", "c", "d", "e", "f")
    assert(rig.described.take(2).toSet == others)
    rig.time.advance(StreamProofs.Pause)
    rig.check()
    assert(rig.described.isEmpty)
  }

  test("a query that ends describes a stream also within a pause") {
    val rig = new Rig
    rig.check("a")
    rig.check("b")
    assert(rig.described.isEmpty)
    rig.check(Map("b" -> None), isLast = true)
    assert(rig.proven == Set("b"))
  }

  test("a stream is described when all its shards have answered, or after a pause") {
    val rig = new Rig
    val since = Some(rig.time.nanoTime)
    rig.check(Map("a" -> since))
    assert(rig.described.isEmpty)
    rig.time.advance(StreamProofs.Pause - 10.millis)
    rig.check(Map("a" -> since))
    assert(rig.described.isEmpty)
    rig.check(Map("a" -> since, "b" -> None))
    assert(rig.described == Vector("b"))
    rig.time.advance(StreamProofs.Pause)
    rig.check(Map("a" -> since, "b" -> Some(rig.time.nanoTime)))
    assert(rig.described == Vector("a"))
  }

  test("after a call that failed, no other stream is described for some seconds, and then the others first") {
    val rig = new Rig(Map("a" -> Found(Set.empty, Set("a"))))
    rig.check("a")
    assert(rig.proven.isEmpty)
    rig.time.advance(1.second)
    rig.check("a", "b")
    assert(rig.described.isEmpty)
    rig.time.advance(StreamProofs.FailurePause)
    rig.check("a", "b")
    assert(rig.described == Vector("b", "a") && rig.proven == Set("b"))
  }

  test("a stream that does not exist any more was not replaced") {
    val rig = new Rig(Map("a" -> Found(Set.empty, Set("a"), Set("a"))))
    rig.check("a")
    assert(rig.proven == Set("a") && rig.missing == Set("a"))
  }

  test("a stream that was recreated is not proven") {
    val rig = new Rig(Map("a" -> Found(Set("a"), Set.empty)))
    rig.check("a")
    assert(rig.proven.isEmpty)
  }
}
