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
      if (isSilent) {
        silentPuts += 1
        unanswered
      } else super.putRecords(stream, entries)

    var silentPuts = 0
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
    val services: Map[String, PausingStream] = (Seq(a, b) ++ routes).map(_.arn -> new PausingStream).toMap
    val closed = mutable.Set.empty[String]
    val invalid = mutable.ArrayBuffer.empty[String]
    val left = mutable.ArrayBuffer.empty[(String, Boolean, Int)]
    private val settings =
      defaults.copy(requests =
        defaults.requests.copy(maxBatchSize = 2, requestTimeout = 1.second, stallTimeout = 2.seconds)
      )
    private val bounds = settings.newBounds
    private val process = new SinkProcess(time, new SharedStreamLimits)
    @volatile var newer = Option.empty[Routes]
    var asked = 0

    /** Whether a silent stream answers to DescribeStreamSummary. */
    var describes = false

    private val access = new RoutedSink.Access {
      override def open(to: PhysicalStream, isAlone: Boolean, stop: CompletableFuture[Unit]): StreamRouter.Target = {
        val own =
          if (isAlone) settings.copy(requests = settings.requests.copy(stallTimeout = Duration.Inf)) else settings
        val identity = StreamIdentity(to.arn, 1, "")
        val checked = CheckedStream(to.stream, identity, 100)
        val sink = KinesisStreamSink.open(services(to.arn), checked, own, bounds, process, events)
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
          if (services(to.arn).isSilent && !describes) CompletableFuture.failedFuture(new RuntimeException("silent"))
          else CompletableFuture.completedFuture(())
        }
        ()
      }
      override def tryOut(
          to: PhysicalStream,
          record: SinkRecord,
          limit: FiniteDuration
      ): CompletableFuture[Unit] = {
        val answer = services(to.arn).putRecords(to.stream, IndexedSeq(record))
        time.schedule(limit) {
          answer.cancel(true)
          ()
        }
        answer.thenApply[Unit](_ => ())
      }
      override def pause(done: CompletableFuture[_], limit: FiniteDuration): Unit = {
        val until = time.nanoTime + limit.toNanos
        while (!done.isDone && time.nanoTime < until) time.advance(10.millis)
      }
      override def awaitEnd(done: CompletableFuture[_], limit: FiniteDuration): Unit = pause(done, limit)
      override def explain(to: PhysicalStream, failure: Throwable): Throwable = failure
      override def invalid(to: String, reason: String, record: SinkRecord): Unit = Rig.this.invalid += reason
    }
    val news = new RouteNews {
      override def routes: Option[Routes] = newer
      override def wanted(): Unit = asked += 1
    }
    val sink = new RoutedSink(
      Routes(1, Map("orders" -> routes.toVector, "none" -> Vector.empty)),
      news,
      () => new RoundRobinSelector(2, 1 << 20, 0),
      health,
      patience,
      time,
      access
    )

    def publish(version: Long, streams: PhysicalStream*): Unit =
      newer = Some(Routes(version, Map("orders" -> streams.toVector)))
    def write(numbers: Int*): Unit = numbers.foreach(n => sink.write("orders", record(n.toString)))
    def stored(of: PhysicalStream): Seq[String] = services(of.arn).stored.toSeq.map(one => new String(one._2.data))
    def all: Seq[String] = services.values.flatMap(_.stored.map(one => new String(one._2.data))).toSeq
  }

  private def record(text: String) = new SinkRecord("key", None, text.getBytes)

  private def internal = new ServiceException(
    ServiceErrorKind.Encryption,
    Operation.PutRecords,
    "KMSDisabledException",
    "disabled"
  )

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
    assert(rig.events.of[StreamUsedAgain].isEmpty, "no record has shown that the stream stores records")
    rig.write(5, 6, 7, 8)
    rig.sink.flush()
    assert(rig.events.of[StreamUsedAgain].map(_.streamName) == Vector(a.arn))
    assert(rig.stored(a).size > 1)
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

  test("the records of an only stream that is silent go to the stream that a newer version names") {
    val rig = new Rig(Seq(a))
    rig.services(a.arn).isSilent = true
    rig.write(1 to 7: _*)
    rig.time.advance(1.second)
    assert(rig.asked == 0, "a stream that is silent for a moment is not in trouble")
    rig.time.advance(5.seconds)
    assert(rig.asked > 0 && rig.all.isEmpty)
    rig.publish(2, b)
    rig.time.advance(500.millis)
    rig.sink.flush()
    assert(rig.stored(b).toSet == (1 to 7).map(_.toString).toSet)
    assert(rig.left.toSeq == Seq(("a", false, 7)) && rig.sink.rerouted == 7)
    rig.write(8, 9)
    rig.sink.flush()
    assert(rig.stored(b).size == 9 && rig.stored(a).isEmpty)
    assert(rig.sink.streams.map { case (arn, of) => arn -> ((of.records, of.left, of.inUse)) } ==
      Map(a.arn -> ((0L, 1L, false)), b.arn -> ((9L, 0L, true))))
  }

  test("a write whose streams accept records keeps its routes, and asks for none") {
    val rig = new Rig(Seq(a))
    rig.publish(2, b)
    // The sink was planned before.
    rig.write(1, 2, 3)
    rig.time.advance(1.minute)
    rig.sink.flush()
    assert(rig.asked == 0)
  }

  test("newer routes that name no other stream leave the records with the silent one") {
    val rig = new Rig(Seq(a))
    rig.services(a.arn).isSilent = true
    rig.write(1, 2)
    rig.publish(2, a.copy(weight = 7))
    rig.time.advance(1.minute)
    assert(rig.left.isEmpty)
    rig.services(a.arn).isSilent = false
    rig.time.advance(1.minute)
    rig.sink.flush()
    assert(rig.stored(a).toSet == Set("1", "2"))
  }

  test("if the only stream does not exist any more, the task waits shortly for a version with another one") {
    val rig = new Rig(Seq(a))
    rig.services(a.arn).failures.enqueue(notFound)
    rig.time.schedule(3.seconds)(rig.publish(2, b))
    rig.write(1, 2, 3, 4)
    rig.sink.flush()
    assert(rig.stored(b).sorted == Seq("1", "2", "3", "4"))
    assert(rig.left.map(_._2).toSeq == Seq(true))
  }

  test("a stream that describes itself but stores nothing gets one record after each pause, and the pauses grow") {
    val rig = new Rig
    rig.services(a.arn).isSilent = true
    rig.describes = true
    rig.write(1, 2, 3, 4)
    rig.time.advance(2100.millis)
    rig.sink.flush()
    var longest = 0L
    val puts = rig.services(a.arn).silentPuts
    (5 to 604).foreach { n =>
      rig.time.advance(1.second)
      rig.write(n)
      val begin = rig.time.nanoTime
      rig.sink.flush()
      longest = math.max(longest, rig.time.nanoTime - begin)
    }
    assert(rig.events.of[StreamUsedAgain].isEmpty)
    assert(longest <= RoutedSink.TrialTimeout.toNanos + 100.millis.toNanos)
    // The first of ten minutes has pauses of 1, 2, 4, 8, 16 and 32 seconds, and a trial takes up to two.
    val trials = rig.services(a.arn).silentPuts - puts
    assert(trials >= 6 && trials <= 12, trials)
    assert(rig.all.toSet == (1 to 604).map(_.toString).toSet)
    rig.services(a.arn).isSilent = false
    (605 to 1004).foreach { n =>
      rig.time.advance(1.second)
      rig.write(n)
      rig.sink.flush()
    }
    assert(rig.events.of[StreamUsedAgain].size == 1)
    assert(rig.stored(a).size > 10 && rig.all.toSet == (1 to 1004).map(_.toString).toSet)
  }

  test("a stream that nobody has used for long is not used before it has stored a record") {
    val rig = new Rig
    rig.services(a.arn).isSilent = true
    rig.write(1, 2, 3, 4)
    rig.time.advance(2100.millis)
    rig.sink.flush()
    rig.time.advance(2.hours)
    assert(rig.health.isDown(a, rig.time.nanoTime))
    rig.services(a.arn).isSilent = false
    assert(rig.health.isDown(a, rig.time.nanoTime), "it is asked first")
    rig.time.advance(10.minutes)
    assert(rig.health.isDown(a, rig.time.nanoTime) && rig.health.isOnTrial(a))
    rig.write(5)
    rig.sink.flush()
    assert(!rig.health.isDown(a, rig.time.nanoTime) && rig.stored(a) == Seq("5"))
  }

  test("patience counts from the present trouble, and not from an earlier one that is over") {
    val rig = new Rig(patience = 30.seconds)
    def fail(): Unit = Seq(a, b).foreach(one => rig.services(one.arn).failures.enqueue(internal))
    fail()
    rig.write(1, 2, 3, 4)
    rig.time.advance(1.second)
    rig.sink.flush()
    rig.time.advance(10.minutes)
    fail()
    rig.write(5, 6, 7, 8)
    rig.time.advance(1.second)
    rig.sink.flush()
    assert(rig.all.toSet == (1 to 8).map(_.toString).toSet)
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
