package org.sparkkinesis.spark.read.reader

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.aws.client.{ClientSettings, CredentialSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.{FakeKinesis, RangeEnd}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamRef, StreamShard}
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.spark.connection.{FakeDirectory, VirtualEnvironment}
import org.sparkkinesis.spark.settings.ReadSettings
import org.sparkkinesis.suite.TimedSuite

class DirectReadSuite extends TimedSuite {
  private val shard = StreamShard(FakeDirectory.arn("orders"), ShardId.ofIndex(0))
  private val range =
    ShardRange(shard, "orders", StartingPosition.TrimHorizon, RangeEnd.At(SequenceNumber("9")), None)

  private val client = ClientSettings.of(Some("us-east-1"), None, CredentialSettings.DefaultChain)

  /** What the kill of a task is in these tests, where the thread of the task is also that of the timer. */
  final private class Killed(val reason: String) extends RuntimeException(reason)

  private def read(failure: () => ServiceException, killer: Option[String => Unit])(
      body: (VirtualScheduler, DirectRead) => Unit
  ): Unit = {
    val time = new VirtualScheduler
    val service = new FakeKinesis(time) {
      override def getShardIterator(
          stream: StreamRef,
          shard: ShardId,
          position: StartingPosition
      ): CompletableFuture[String] = {
        val answer = new CompletableFuture[String]
        time.schedule(10.millis) { answer.completeExceptionally(failure()); () }
        answer
      }
    }
    val environment = new VirtualEnvironment(time, service)
    environment.killer = killer
    val settings = ReadSettings(Options.defaults, Map(shard.stream -> client))
    val reading = new DirectRead(range, settings, new ConsumerMetrics, environment)
    try body(time, reading)
    finally reading.close()
  }

  private def noAnswer() =
    new ServiceException(ServiceErrorKind.Network, Operation.GetShardIterator, "ConnectException", "refused")
  private def throttled() =
    new ServiceException(ServiceErrorKind.Throttled, Operation.GetShardIterator, "LimitExceeded", "slow down")

  test("a task that waits for a service which its executor cannot reach is killed, with a reason") {
    read(() => noAnswer(), Some(reason => throw new Killed(reason))) { (time, reading) =>
      val began = time.nanoTime
      val killed = intercept[Killed](reading.hasNext)
      assert(killed.reason.contains(shard.toString))
      assert((time.nanoTime - began).nanos < 2.minutes)
    }
  }

  test("a task whose calls are answered, also by refusals, waits as long as that takes") {
    read(() => throttled(), Some(reason => throw new Killed(reason))) { (_, reading) =>
      // The virtual environment ends a wait after a day.
      intercept[AssertionError](reading.hasNext)
    }
  }

  test("a task asks for no more records than its range has, if they are large") {
    Seq(Some(2L) -> 2, Some(0L) -> 1, None -> 25).foreach { case (maxRecords, limit) =>
      val time = new VirtualScheduler
      val service = new FakeKinesis(time)
      val numbers = service.put(shard.shard.value, "a", "b", "c")
      val settings = ReadSettings(Options.defaults, Map(shard.stream -> client))
      val planned = range.copy(end = RangeEnd.At(numbers(1)), maxRecords = maxRecords)
      val reading = new DirectRead(planned, settings, new ConsumerMetrics, new VirtualEnvironment(time, service))
      try assert(reading.map(_.rows).sum == 2)
      finally reading.close()
      assert(service.limits.toSet == Set(limit))
    }
  }

  test("a task that no other executor can run waits as long as the outage takes") {
    read(() => noAnswer(), None)((_, reading) => intercept[AssertionError](reading.hasNext))
  }

  test("a task that does not wait for the service, or has ended, is not killed") {
    val time = new VirtualScheduler
    var kills = 0
    val watch = new SilenceWatch(() => true, () => kills += 1, time)
    time.advance(1.hour)
    assert(kills == 0)
    watch.waiting(time.advance(1.hour))
    assert(kills == 1)
    val ended = new SilenceWatch(() => true, () => kills += 1, time)
    ended.waiting(ended.close())
    time.advance(1.hour)
    assert(kills == 1 && time.pending == 0)
  }
}
