package org.sparkkinesis.sink.kinesis.lane

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event.EventSink
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.sink.kinesis.FakeStream
import org.sparkkinesis.suite.TimedSuite

class OpenShardsSuite extends TimedSuite {
  private class Rig {
    val time = new VirtualScheduler
    val shards = new OpenShards(time, (_, _) => ())
    shards.list(new FakeStream(2), StreamRef.ByName("s"), EventSink.Discard)
    time.advance(1.milli)

    /** Reports a response that agrees with the map. */
    def respond(sentAt: Long): Unit = {
      val seen = shards.saw(Iterator(ShardId.ofIndex(0) -> HashPoint(0, 0)), sentAt)
      assert(seen == Sighting.AsExpected)
    }
  }

  test("responses in short intervals keep the map confirmed") {
    val rig = new Rig
    assert(rig.shards.isConfirmed)
    (1 to 100).foreach { _ =>
      val sentAt = rig.time.nanoTime
      rig.time.advance(OpenShards.Continuity / 4)
      rig.respond(sentAt)
      assert(rig.shards.isConfirmed)
    }
    rig.time.advance(OpenShards.Continuity)
    assert(!rig.shards.isConfirmed)
  }

  test("a response that is late does not confirm the map, because a recreated stream may have sent it") {
    val rig = new Rig
    rig.time.advance(OpenShards.Continuity - 200.millis)
    val sentAt = rig.time.nanoTime
    val second = sentAt + 100.millis.toNanos
    rig.time.advance(300.millis)
    rig.respond(sentAt)
    assert(!rig.shards.isConfirmed)
    // Neither does a chain of late responses.
    rig.respond(second)
    assert(!rig.shards.isConfirmed)
  }

  test("a response without a stored record does not confirm the map") {
    val rig = new Rig
    (1 to 10).foreach { _ =>
      val sentAt = rig.time.nanoTime
      rig.time.advance(OpenShards.Continuity / 4)
      assert(rig.shards.saw(Iterator.empty, sentAt) == Sighting.AsExpected)
    }
    assert(!rig.shards.isConfirmed)
  }
}
