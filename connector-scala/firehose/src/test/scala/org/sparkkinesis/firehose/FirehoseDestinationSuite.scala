package org.sparkkinesis.firehose

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.AbortableFuture
import org.sparkkinesis.event.{CallThrottled, ConnectorEvent, PutFailed, PutTimedOut}
import org.sparkkinesis.retry.RetryRules
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.RetryCause.{Failed, Throttled, Unanswered}
import org.sparkkinesis.sink.Verdict
import org.sparkkinesis.suite.TimedSuite

class FirehoseDestinationSuite extends TimedSuite {
  private type Answer = IndexedSeq[Option[RefusedRecord]]

  /** A destination whose service gives this answer, with the events that it emits. */
  final private class Rig(answer: CompletableFuture[Answer], rules: RetryRules = RetryRules.Default) {
    var events: Vector[ConnectorEvent] = Vector.empty
    private val service = new FirehoseService {
      override def putRecordBatch(stream: String, records: IndexedSeq[Array[Byte]]): CompletableFuture[Answer] = answer
      override def close(): Unit = ()
    }
    val destination = new FirehoseDestination(service, "archive", rules, event => events :+= event)
    def send(records: Int): CompletableFuture[IndexedSeq[Verdict]] =
      destination.send(Vector.fill(records)(Array[Byte](1)))
  }

  private def failing(kind: ServiceErrorKind, code: String): CompletableFuture[Answer] =
    CompletableFuture.failedFuture(new ServiceException(kind, Operation.PutRecordBatch, code, "why"))

  private def cause(verdict: Verdict): String = verdict match {
    case Verdict.Retry(cause, _) => cause.toString
    case other => other.getClass.getSimpleName.stripSuffix("$")
  }

  test("each record of an answer is accepted, throttled, retried or fatal on its own") {
    val answer = Vector(None, Some("ServiceUnavailableException"), Some("InternalFailure"), Some("AccessDenied"))
      .map(_.map(RefusedRecord(_, "why")))
    val rig = new Rig(CompletableFuture.completedFuture(answer))
    val verdicts = rig.send(4).join()
    assert(verdicts.map(cause) == Vector("Accepted", Throttled.toString, Failed.toString, "Fatal"))
    assert(rig.events.isEmpty)
  }

  test("a failed call gives all its records the same verdict") {
    val cases = Seq(
      failing(ServiceErrorKind.Internal, "ServiceUnavailableException") -> Throttled.toString,
      failing(ServiceErrorKind.Throttled, "ThrottlingException") -> Throttled.toString,
      failing(ServiceErrorKind.Internal, "InternalFailure") -> Unanswered.toString,
      failing(ServiceErrorKind.Network, "IOException") -> Unanswered.toString,
      failing(ServiceErrorKind.ResourceNotFound, "ResourceNotFoundException") -> "Fatal",
      failing(ServiceErrorKind.InvalidArgument, "InvalidSourceException") -> "Fatal"
    )
    cases.foreach { case (answer, expected) =>
      assert(new Rig(answer).send(3).join().map(cause) == Vector.fill(3)(expected))
    }
  }

  test("failures that the options name are retried") {
    val rules = RetryRules(Set("InvalidKMSResourceException"))
    val answer = failing(ServiceErrorKind.InvalidArgument, "InvalidKMSResourceException")
    assert(new Rig(answer, rules).send(1).join().map(cause) == Vector(Failed.toString))
    assert(new Rig(answer).send(1).join().map(cause) == Vector("Fatal"))
  }

  test("an answer with another number of results than records is fatal") {
    val verdicts = new Rig(CompletableFuture.completedFuture(Vector(None))).send(2).join()
    assert(verdicts.map(cause) == Vector("Fatal", "Fatal"))
  }

  test("throttled, failed and late requests are events") {
    val throttled = new Rig(failing(ServiceErrorKind.Internal, "ServiceUnavailableException"))
    throttled.send(1).join()
    assert(throttled.events == Vector(CallThrottled("archive", None, Operation.PutRecordBatch)))
    val failed = new Rig(failing(ServiceErrorKind.Network, "IOException"))
    failed.send(7).join()
    failed.destination.timedOut(7, 30.seconds)
    assert(failed.events.head.asInstanceOf[PutFailed].records == 7)
    assert(failed.events.last == PutTimedOut("archive", Operation.PutRecordBatch, 7, 30000))
  }

  test("cancelling a request ends its call, and the request is done when the call has ended") {
    var aborted = false
    val running = new AbortableFuture[Answer](() => aborted = true)
    val rig = new Rig(running)
    val request = rig.send(1)
    request.cancel(true)
    assert(aborted && !request.isDone)
    running.complete(Vector(None))
    assert(request.join() == Vector(Verdict.Accepted))
    assert(rig.events.isEmpty)
  }
}
