package org.sparkkinesis.sink.kinesis.lane

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event.{RecordedEvents, ShardMapNotRefreshed}
import org.sparkkinesis.model.hash.HashPoint
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.retry.{RetryPolicy, RetryRules}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.shard.ShardMap
import org.sparkkinesis.sink.kinesis.FakeStream
import org.sparkkinesis.suite.TimedSuite

class OpenShardsSuite extends TimedSuite {
  private class Rig {
    val time = new VirtualScheduler
    val shards = new OpenShards(time, RetryPolicy(None, 200.millis, 3.seconds, 1.5), RetryRules.Default, (_, _) => ())
    val stream = new FakeStream(2)
    val events = new RecordedEvents
    def list(): CompletableFuture[ShardMap] = shards.list(stream, StreamRef.ByName("s"), events)
    list()
    time.advance(1.milli)

    /** Reports a response that agrees with the map. */
    def respond(sentAt: Long): Unit = {
      val seen = shards.saw(1, _ => Some(ShardId.ofIndex(0)), _ => HashPoint(0, 0), sentAt)
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

  test("the pause after a failed listing grows with each failure, by the retry options of ListShards") {
    val rig = new Rig
    def fails(): Unit = {
      rig.stream.listingFailures +=
        new ServiceException(ServiceErrorKind.Internal, Operation.ListShards, "InternalFailure", "")
      assert(rig.list().isCompletedExceptionally)
      assert(rig.shards.hasJustFailed)
    }
    Seq(200.millis, 300.millis, 450.millis).foreach { pause =>
      fails()
      rig.time.advance(pause - 1.milli)
      assert(rig.shards.hasJustFailed)
      rig.time.advance(1.milli)
      assert(!rig.shards.hasJustFailed)
    }
    rig.list()
    assert(!rig.shards.hasJustFailed)
    fails()
    rig.time.advance(200.millis)
    assert(!rig.shards.hasJustFailed)
    assert(rig.events.of[ShardMapNotRefreshed].map(_.streamName) == Vector.fill(4)("s"))
  }

  test("a listing counts as in progress from the response on that has shown that the map is outdated") {
    val rig = new Rig
    def elsewhere() = rig.shards.saw(1, _ => Some(ShardId.ofIndex(1)), _ => HashPoint(0, 0), rig.time.nanoTime)
    assert(!rig.shards.isListing)
    def isNews(seen: Sighting) = seen match {
      case Sighting.Refuted(_, isNews) => isNews
      case other => fail(other.toString)
    }
    assert(isNews(elsewhere()) && rig.shards.isListing)
    // A second response with the same news must not be judged by the old map before the first one's thread lists.
    assert(!isNews(elsewhere()) && rig.shards.isListing)
    rig.list()
    rig.time.advance(1.milli)
    assert(!rig.shards.isListing)
  }

  test("a response without a stored record does not confirm the map") {
    val rig = new Rig
    (1 to 10).foreach { _ =>
      val sentAt = rig.time.nanoTime
      rig.time.advance(OpenShards.Continuity / 4)
      assert(rig.shards.saw(1, _ => None, _ => HashPoint(0, 0), sentAt) == Sighting.AsExpected)
    }
    assert(!rig.shards.isConfirmed)
  }

  test("records are compared with the newest map, also if an earlier map expected them elsewhere") {
    val rig = new Rig
    val point = HashPoint(0, 0)
    val earlier = rig.shards.expect(1, (map, _) => map.indexOf(point))
    val parent = rig.shards.map.get.shardOf(point)
    rig.stream.split(parent)
    rig.time.advance(1.milli)
    rig.list()
    val child = rig.shards.map.get.shardOf(point)
    assert(child != parent)
    def saw(shard: ShardId, expected: Option[ExpectedShards]): Sighting =
      rig.shards.saw(1, _ => Some(shard), _ => point, rig.time.nanoTime, expected)
    Seq(earlier, rig.shards.expect(1, (map, _) => map.indexOf(point)), None).foreach { expected =>
      rig.time.advance(2.seconds)
      assert(saw(child, expected) == Sighting.AsExpected)
      assert(saw(parent, expected) == Sighting.Elsewhere)
      rig.list()
    }
  }
}
