package org.sparkkinesis.sink.route

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.concurrent.{AbortableFuture, VirtualScheduler}
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.{RecordedEvents, StreamUsedAgain}
import org.sparkkinesis.metadata.PhysicalStream
import org.sparkkinesis.service.{Operation, PutEntry, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.kinesis._
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.route.StreamSelectorSuite.stream
import org.sparkkinesis.sink.{DestinationStalledException, FatalSinkException}
import org.sparkkinesis.suite.TimedSuite

class RoutedSinkSuite extends TimedSuite {
  private val (a, b) = (stream("a"), stream("b"))
  private val defaults = KinesisSinkSettings.of(Options.defaults)

  /** A stream that does not answer while `isSilent`. */
  final private class PausingStream extends FakeStream(1) {
    var isSilent = false
    override def putRecords(
        stream: org.sparkkinesis.model.StreamRef,
        entries: IndexedSeq[PutEntry]
    ): CompletableFuture[IndexedSeq[PutResult]] =
      if (isSilent) unanswered else super.putRecords(stream, entries)

    private def unanswered: CompletableFuture[IndexedSeq[PutResult]] = {
      lazy val answer: CompletableFuture[IndexedSeq[PutResult]] = new AbortableFuture(() => {
        answer.completeExceptionally(
          new ServiceException(ServiceErrorKind.Network, Operation.PutRecords, "Timeout", "cancelled")
        )
        ()
      })
      answer
    }
  }

  private class Rig(routes: Seq[PhysicalStream] = Seq(a, b), patience: Duration = 10.minutes) {
    val time = new VirtualScheduler
    val events = new RecordedEvents
    val health = new RouteHealth
    val services: Map[String, PausingStream] = routes.map(_.arn -> new PausingStream).toMap
    val closed = mutable.Set.empty[String]
    val invalid = mutable.ArrayBuffer.empty[String]
    val left = mutable.ArrayBuffer.empty[(String, Boolean, Int)]
    private val settings =
      defaults.copy(requests =
        defaults.requests.copy(maxBatchSize = 2, requestTimeout = 1.second, stallTimeout = 2.seconds)
      )
    private val bounds = settings.newBounds
    private val process = new SinkProcess(time, new SharedStreamLimits)
    var refusal: Option[ServiceException] = None

    private val access = new RoutedSink.Access {
      override def open(to: PhysicalStream): StreamRouter.Target = {
        val identity = StreamIdentity(to.arn, 1, "")
        val checked = CheckedStream(to.stream, identity, 100)
        val sink = KinesisStreamSink.open(services(to.arn), checked, settings, bounds, process, events)
        new StreamRouter.Target(checked, sink, () => closed += to.arn, () => checked.maxRecordBytes)
      }
      override def judge(failure: Throwable): Option[Boolean] = failure match {
        case _: DestinationStalledException => Some(false)
        case fatal: FatalSinkException => fatal.getCause match {
            case gone: ServiceException => Some(gone.kind == ServiceErrorKind.ResourceNotFound)
            case _ => None
          }
        case _ => None
      }
      override def left(to: PhysicalStream, isPermanent: Boolean, failure: Throwable, records: Int): Unit = {
        Rig.this.left += ((to.stream.name, isPermanent, records))
        health.leave(to, isPermanent, 1.second, time, events) { () =>
          if (services(to.arn).isSilent) CompletableFuture.failedFuture(new RuntimeException("silent"))
          else CompletableFuture.completedFuture(())
        }
        ()
      }
      override def explain(to: PhysicalStream, failure: Throwable): Throwable = failure
      override def invalid(to: String, reason: String, record: SinkRecord): Unit = Rig.this.invalid += reason
    }
    val sink = new RoutedSink(
      Routes(1, Map("orders" -> routes.toVector, "none" -> Vector.empty)),
      () => new RoundRobinSelector(2, 1 << 20, 0),
      health,
      patience,
      time,
      access
    )

    def write(numbers: Int*): Unit = numbers.foreach(n => sink.write("orders", record(n.toString)))
    def stored(of: PhysicalStream): Seq[String] = services(of.arn).stored.toSeq.map(one => new String(one._2.data))
    def all: Seq[String] = services.values.flatMap(_.stored.map(one => new String(one._2.data))).toSeq
  }

  private def record(text: String) = new SinkRecord("key", None, text.getBytes)

  private def notFound = new ServiceException(
    ServiceErrorKind.ResourceNotFound,
    Operation.PutRecords,
    "ResourceNotFoundException",
    "not found"
  )

  test("each record is stored once, in the stream that the selector chooses") {
    val rig = new Rig
    rig.write(1 to 8: _*)
    rig.sink.flush()
    assert(rig.stored(a) == Seq("1", "2", "5", "6"))
    assert(rig.stored(b) == Seq("3", "4", "7", "8"))
    assert(rig.sink.rerouted == 0)
  }

  test("the records of a stream that does not exist are written to the other stream, in their order") {
    val rig = new Rig
    rig.services(a.arn).failures.enqueue(notFound)
    rig.write(1 to 6: _*)
    rig.sink.flush()
    assert(rig.stored(a).isEmpty)
    assert(rig.stored(b).sorted == (1 to 6).map(_.toString))
    assert(rig.stored(b).filter(Set("1", "2")) == Seq("1", "2"))
    assert(rig.left.toSeq == Seq(("a", true, 2)) && rig.sink.rerouted == 2)
    assert(rig.closed == Set(a.arn))
  }

  test("a stream that accepts nothing for the stall timeout is left, and used again when it answers") {
    val rig = new Rig
    rig.services(a.arn).isSilent = true
    rig.write(1, 2, 3, 4)
    rig.time.advance(1900.millis)
    assert(rig.all.toSet == Set("3", "4"))
    rig.time.advance(200.millis)
    rig.sink.flush()
    assert(rig.stored(b).toSet == Set("1", "2", "3", "4"))
    assert(rig.left.toSeq == Seq(("a", false, 2)))
    assert(rig.sink.metrics.requests.possibleDuplicates >= 2)
    rig.services(a.arn).isSilent = false
    rig.time.advance(1100.millis)
    assert(rig.events.of[StreamUsedAgain].map(_.streamName) == Vector(a.arn))
    rig.write(5, 6, 7, 8)
    rig.sink.flush()
    assert(rig.stored(a).nonEmpty)
    assert(rig.all.toSet == (1 to 8).map(_.toString).toSet)
  }

  test("if every stream is gone, the failure of the last one is thrown") {
    val rig = new Rig
    Seq(a, b).foreach(one => (1 to 9).foreach(_ => rig.services(one.arn).failures.enqueue(notFound)))
    val failure = intercept[FatalSinkException] {
      rig.write(1, 2, 3, 4)
      rig.sink.flush()
    }
    assert(failure.getCause.asInstanceOf[ServiceException].kind == ServiceErrorKind.ResourceNotFound)
  }

  test("the failure of the only stream is thrown as it is") {
    val rig = new Rig(Seq(a))
    rig.services(a.arn).failures.enqueue(notFound)
    intercept[FatalSinkException] {
      rig.write(1, 2)
      rig.sink.flush()
    }
    assert(rig.left.isEmpty)
  }

  test("a record that is too large for its stream is given to the owner") {
    val rig = new Rig
    rig.sink.write("orders", record("x" * 200))
    rig.sink.flush()
    assert(rig.invalid.size == 1 && rig.all.isEmpty)
  }

  test("a logical stream without an active stream is an error with a condition") {
    val rig = new Rig
    val failure = intercept[org.sparkkinesis.error.KinesisConnectorException](rig.sink.write("none", record("1")))
    assert(failure.condition == "KINESIS_SINK_NO_ACTIVE_STREAM")
    assert(rig.sink.knows("none") && !rig.sink.knows("other"))
  }
}
