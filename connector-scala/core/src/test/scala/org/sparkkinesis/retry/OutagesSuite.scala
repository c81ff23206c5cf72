package org.sparkkinesis.retry

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.event.{OngoingOutage, OutageBegan, OutageEnded, OutageLasts, RecordedEvents}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class OutagesSuite extends TimedSuite {
  private val failure =
    new ServiceException(ServiceErrorKind.Internal, Operation.GetRecords, "InternalFailure", "injected")

  private class Calls {
    val scheduler = new VirtualScheduler
    val events = new RecordedEvents
    val outages = new Outages(scheduler, events)
    def fail(shard: Int, failures: Int = Outages.Notable, stream: String = "orders"): Unit =
      outages.failed(stream, Some(ShardId.ofIndex(shard.toLong)), failures, failure)
    def succeed(shard: Int): Unit = outages.recovered("orders", Some(ShardId.ofIndex(shard.toLong)))
    def leave(shard: Int): Unit = outages.left("orders", Some(ShardId.ofIndex(shard.toLong)))
  }

  test("fewer consecutive failures than the threshold are no outage") {
    val calls = new Calls
    (1 until Outages.Notable).foreach(n => calls.fail(0, n))
    assert(calls.events.all.size == 0)
  }

  test("an outage is reported once, then once per period, and when all calls succeed again") {
    val calls = new Calls
    (0 until 100).foreach(calls.fail(_))
    assert(calls.events.all ==
      Vector(OutageBegan("orders", Some(ShardId.ofIndex(0)), Outages.Notable, failure.getMessage)))
    calls.scheduler.advance(Outages.Period)
    (0 until 100).foreach(calls.fail(_, 12))
    assert(calls.events.of[OutageLasts] ==
      Vector(OutageLasts("orders", Outages.Period.toMillis, 100, failure.getMessage)))
    calls.scheduler.advance(1.second)
    (1 until 100).foreach(calls.succeed)
    assert(calls.events.of[OutageEnded] == Vector.empty[OutageEnded])
    calls.succeed(0)
    assert(calls.events.of[OutageEnded] == Vector(OutageEnded("orders", Outages.Period.toMillis + 1000, 100)))
  }

  test("each stream has its own outage") {
    val calls = new Calls
    calls.fail(0)
    calls.fail(0, stream = "clicks")
    assert(calls.events.of[OutageBegan].map(_.streamName) == Vector("orders", "clicks"))
  }

  test("an outage whose remaining calls are no longer made ends without an event") {
    val calls = new Calls
    calls.fail(0)
    calls.leave(0)
    assert(calls.events.of[OutageEnded] == Vector.empty[OutageEnded])
    calls.fail(0)
    assert(calls.events.of[OutageBegan].size == 2)
  }

  test("a success without an outage is not reported") {
    val calls = new Calls
    calls.succeed(0)
    calls.fail(1)
    calls.succeed(0)
    assert(calls.events.all.size == 1)
  }

  private val noAnswer =
    new ServiceException(ServiceErrorKind.Network, Operation.GetRecords, "ConnectException", "injected")
  private def silent(calls: Calls, shard: Int): Unit =
    calls.outages.failed("orders", Some(ShardId.ofIndex(shard.toLong)), Outages.Notable, noAnswer)

  test("a stream is unreachable when its calls fail, and none has had an answer for a while") {
    val calls = new Calls
    silent(calls, 0)
    calls.scheduler.advance(Outages.Silence - 1.milli)
    assert(calls.outages.unreachable == Set.empty[String])
    calls.scheduler.advance(1.milli)
    assert(calls.outages.unreachable == Set("orders"))
    calls.succeed(0)
    assert(calls.outages.unreachable == Set.empty[String])
  }

  Seq[(String, Calls => Unit)](
    "an answer of another shard" -> (_.outages.answered("orders")),
    "a refusal" -> (_.fail(1, failures = 1))
  ).foreach { case (what, happens) =>
    test(s"a stream is reached by $what") {
      val calls = new Calls
      silent(calls, 0)
      calls.scheduler.advance(Outages.Silence)
      happens(calls)
      assert(calls.outages.unreachable == Set.empty[String])
      calls.scheduler.advance(Outages.Silence)
      assert(calls.outages.unreachable == Set("orders"))
    }
  }

  test("a present outage has its shards, its duration and the last reason") {
    val calls = new Calls
    assert(calls.outages.ongoing.isEmpty)
    silent(calls, 0)
    silent(calls, 1)
    calls.scheduler.advance(7.seconds)
    assert(calls.outages.ongoing == Seq(OngoingOutage("orders", 2, 7000, noAnswer.getMessage)))
    calls.succeed(0)
    calls.succeed(1)
    assert(calls.outages.ongoing.isEmpty)
  }

  test("what is not called any more is not unreachable") {
    val calls = new Calls
    silent(calls, 0)
    calls.scheduler.advance(Outages.Silence)
    calls.leave(0)
    assert(calls.outages.unreachable == Set.empty[String])
  }
}
