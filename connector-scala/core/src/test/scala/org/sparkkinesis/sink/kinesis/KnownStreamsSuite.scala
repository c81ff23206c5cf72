package org.sparkkinesis.sink.kinesis

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.model.{StreamRef, StreamStatus}
import org.sparkkinesis.retry.{RetryPolicy, RetryRules}
import org.sparkkinesis.service._
import org.sparkkinesis.suite.TimedSuite

class KnownStreamsSuite extends TimedSuite {
  private val ref = StreamRef.ByName("s")
  private val unlimited = RetryPolicy(None, 200.millis, 3.seconds, 1.5)

  private class Rig {
    val time = new VirtualScheduler
    val known = new KnownStreams[String]
    val answers = mutable.Queue.empty[Either[ServiceException, StreamDescription]]
    var asked = 0
    val service: KinesisService = new FakeStream(1) {
      override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] = {
        asked += 1
        answers.dequeue().fold(CompletableFuture.failedFuture(_), CompletableFuture.completedFuture(_))
      }
    }
    def find(
        caller: String = "me",
        policy: RetryPolicy = unlimited,
        rules: RetryRules = RetryRules.Default,
        asker: KnownStreams.Asker = KnownStreams.Planner
    ): CompletableFuture[StreamDescription] =
      known.find(caller, ref, service, time, policy, rules, asker, () => 1.0)((_, _) => ())
    def found(caller: String = "me", asker: KnownStreams.Asker = KnownStreams.Planner): Long = {
      val answer = find(caller, asker = asker)
      assert(answer.isDone)
      answer.get().creationMillis
    }
  }

  private def stream(created: Long, status: StreamStatus = StreamStatus.Active) =
    Right(StreamDescription("s", "arn:s", status, created, 24, 1, 1 << 20, onDemand = false))
  private def failure(kind: ServiceErrorKind) =
    Left(new ServiceException(
      kind,
      org.sparkkinesis.service.Operation.DescribeStreamSummary,
      kind.name,
      "message of the service"
    ))
  private def kindOf(future: CompletableFuture[_]): ServiceErrorKind =
    intercept[ExecutionException](future.get()).getCause.asInstanceOf[ServiceException].kind

  test("each caller describes a stream once") {
    val rig = new Rig
    rig.answers ++= Seq(stream(1), stream(2))
    assert(Seq.fill(3)(rig.found()) == Seq(1L, 1L, 1L))
    assert(rig.found("other") == 2)
    assert(rig.asked == 2)
  }

  test("tasks that need a description at the same time share one call, and one that gives up does not end it") {
    val time = new VirtualScheduler
    val known = new KnownStreams[String]
    val answer = new CompletableFuture[StreamDescription]
    var asked = 0
    val service = new FakeStream(1) {
      override def describeStream(stream: StreamRef): CompletableFuture[StreamDescription] = {
        asked += 1
        answer
      }
    }
    def find() = known.find("me", ref, service, time, unlimited, RetryRules.Default, KnownStreams.Task)((_, _) => ())
    val (first, others) = (find(), Seq.fill(9)(find()))
    first.cancel(true)
    assert(asked == 1 && !answer.isDone)
    answer.complete(stream(7).toTry.get)
    assert(others.map(_.get().creationMillis) == Seq.fill(9)(7L))
    assert(find().get().creationMillis == 7 && asked == 1)
  }

  test(
    "a description that is a minute old is used and renewed in the background, and remains in use during an outage"
  ) {
    val rig = new Rig
    rig.answers ++= Seq(stream(1), failure(ServiceErrorKind.Internal), stream(2))
    rig.found()
    rig.time.advance(61.seconds)
    assert(rig.found() == 1)
    assert(rig.asked == 2)
    rig.time.advance(3.seconds)
    assert(rig.found() == 1)
    assert(rig.asked == 3)
    assert(rig.found() == 2)
    assert(rig.asked == 3)
  }

  test("renewals that fail have growing pauses, however many tasks ask meanwhile") {
    val rig = new Rig
    rig.answers += stream(1)
    rig.answers ++= Seq.fill(1000)(failure(ServiceErrorKind.Throttled))
    rig.found()
    rig.time.advance(1.minute)
    (1 to 600).foreach { _ => assert(rig.found() == 1); rig.time.advance(100.millis) }
    assert(rig.asked > 2 && rig.asked < 1 + 60 / 3 + 10, rig.asked)
  }

  test("a task keeps a description for longer than the driver, and asks again before it refuses a record") {
    val rig = new Rig
    rig.answers ++= Seq(stream(1), stream(2), stream(3))
    rig.found()
    rig.time.advance(9.minutes)
    assert(rig.found(asker = KnownStreams.Task) == 1)
    assert(rig.asked == 1)
    assert(rig.found(asker = KnownStreams.Limit) == 2)
    rig.time.advance(900.millis)
    assert(rig.found(asker = KnownStreams.Limit) == 2)
    rig.time.advance(100.millis)
    assert(rig.found(asker = KnownStreams.Limit) == 3)
  }

  test("a task waits for a service that its executor has never reached, because the driver has reached it") {
    val rig = new Rig
    rig.answers ++= Seq.fill(100)(failure(ServiceErrorKind.Network)) :+ stream(1)
    val waiting = rig.find(asker = KnownStreams.Task)
    rig.time.advance(10.minutes)
    assert(waiting.get().creationMillis == 1)
  }

  test("a missing or DELETING stream is described again by the next batch") {
    val rig = new Rig
    rig.answers ++= Seq(stream(1), failure(ServiceErrorKind.ResourceNotFound), stream(2))
    rig.found()
    rig.time.advance(61.seconds)
    rig.found()
    assert(rig.found() == 2)
    rig.answers ++= Seq(stream(2, StreamStatus.Deleting), stream(3))
    rig.time.advance(61.seconds)
    rig.found()
    assert(rig.found() == 3)
    rig.answers += stream(4)
    rig.known.forget("me", ref)
    assert(rig.found() == 4)
  }

  test("calls are retried during an outage for as long as the caller waits") {
    val rig = new Rig
    rig.answers ++= Seq.fill(100)(failure(ServiceErrorKind.Internal)) :+ stream(1)
    val waiting = rig.find()
    rig.time.advance(10.minutes)
    assert(waiting.get().creationMillis == 1)
  }

  test("the retry options limit the calls, and add failures that are retried") {
    val limited = new Rig
    limited.answers ++= Seq.fill(10)(failure(ServiceErrorKind.Internal))
    val found = limited.find(policy = unlimited.copy(maxRetries = Some(2)))
    limited.time.advance(1.minute)
    assert(kindOf(found) == ServiceErrorKind.Internal)
    assert(limited.asked == 3)
    val tolerant = new Rig
    tolerant.answers ++= Seq(failure(ServiceErrorKind.AccessDenied), stream(1))
    val retried = tolerant.find(rules = RetryRules(Set(ServiceErrorKind.AccessDenied.name)))
    tolerant.time.advance(1.minute)
    assert(retried.get().creationMillis == 1)
  }

  test("the calls end when the caller stops waiting") {
    val rig = new Rig
    rig.answers ++= Seq.fill(100)(failure(ServiceErrorKind.Internal))
    rig.find().cancel(true)
    rig.time.advance(10.minutes)
    assert(rig.asked <= 2)
  }

  test("calls to an endpoint that never responded fail soon, and calls to one that did are retried") {
    val rig = new Rig
    rig.answers ++= Seq.fill(6)(failure(ServiceErrorKind.Network))
    val first = rig.find()
    rig.time.advance(20.seconds)
    assert(kindOf(first) == ServiceErrorKind.Client)
    rig.answers += stream(1)
    rig.found()
    rig.known.forget("me", ref)
    rig.answers ++= Seq.fill(20)(failure(ServiceErrorKind.Network)) :+ stream(2)
    val second = rig.find()
    rig.time.advance(2.minutes)
    assert(second.get().creationMillis == 2)
  }

  test("a permanent error fails immediately") {
    Seq(ServiceErrorKind.ResourceNotFound, ServiceErrorKind.AccessDenied).foreach { kind =>
      val rig = new Rig
      rig.answers += failure(kind)
      assert(kindOf(rig.find()) == kind)
    }
  }
}
