package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.event.{EventSink, RecordedEvents, WriteLimitChanged}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.limit.RequestOutcome
import org.sparkkinesis.suite.TimedSuite

/** Tests that state belongs to a stream and not to a name. */
class StreamIdentitySuite extends TimedSuite {
  private def arn(account: Int) = f"arn:aws:kinesis:us-east-1:$account%012d:stream/s"
  private def checked(
      account: Int = 1,
      created: Long = 1,
      endpoint: String = "",
      ref: StreamRef = StreamRef.ByName("s")
  ) =
    CheckedStream(ref, StreamIdentity(arn(account), created, endpoint), 1 << 20)

  test("writers of one stream share limits and shards, and writers of other streams do not") {
    val time = new VirtualScheduler
    val shared = new SharedStreamLimits
    def limits(stream: CheckedStream) =
      shared.acquire(stream.identity, KinesisSinkSettings.of(Options.defaults), 1, EventSink.Discard, time)
    val one = limits(checked())
    assert(limits(checked()) eq one)
    assert(limits(checked(ref = StreamRef.parse(arn(1)).getOrElse(fail("no ARN")))) eq one)
    val others = Seq(checked(account = 2), checked(created = 2), checked(endpoint = "http://127.0.0.1:1"))
    assert((others.map(limits(_)) :+ one).distinct.size == 4)
  }

  test("limits that are unused for ten minutes are removed, and those in use are not") {
    val time = new VirtualScheduler
    val shared = new SharedStreamLimits
    def limits() =
      shared.acquire(checked().identity, KinesisSinkSettings.of(Options.defaults), 1, EventSink.Discard, time)
    val used = limits()
    time.advance(11.minutes)
    assert(limits() eq used)
    Seq(1, 2).foreach(_ => shared.release(used, EventSink.Discard, time))
    time.advance(11.minutes)
    assert(limits() ne used)
  }

  test("a change of a rate is reported once to each query that uses the limits at that time") {
    val time = new VirtualScheduler
    val shared = new SharedStreamLimits
    val settings = KinesisSinkSettings.of(Options.defaults)
    val (first, second, ended) = (new RecordedEvents, new RecordedEvents, new RecordedEvents)
    val users = Seq(first, first, second, ended)
    val limits = users.map(events => shared.acquire(checked().identity, settings, 1, events, time)).head
    shared.release(limits, ended, time)
    shared.release(limits, first, time)
    val writer = limits.strategy.open()
    writer.acquire(500, 0)
    writer.settled(RequestOutcome(500, 500, 1, 0), 0)
    assert(first.all.isEmpty, "a writer holds its lock")
    limits.report()
    limits.report()
    Seq(first, second).foreach { events =>
      assert(events.of[WriteLimitChanged] == Vector(WriteLimitChanged(arn(1), 500, 495)))
    }
    assert(ended.of[WriteLimitChanged].isEmpty)
  }

  test("streams with the same name in two accounts do not share shards") {
    val time = new VirtualScheduler
    val process = new SinkProcess(time, new SharedStreamLimits)
    val settings = KinesisSinkSettings.of(Options.defaults).copy(aggregated = true)
    val services = Seq(new FakeStream(2), new FakeStream(4))
    services.zipWithIndex.foreach { case (service, account) =>
      val sink = KinesisStreamSink.open(service, checked(account), settings, settings.newBounds, process)
      (1 to 100).foreach(i => sink.write(new SinkRecord(s"key-$i", None, Array[Byte](1))))
      time.advance(1.second)
      sink.flush()
      assert(service.stored.map(_._1).distinct.size == service.openShards.size)
      assert(sink.metrics.requests.possibleDuplicates == 0)
    }
  }

  test("a stream under its name and its ARN has one writer, also if one of them was known before it was recreated") {
    val time = new VirtualScheduler
    val process = new SinkProcess(time, new SharedStreamLimits)
    val settings = KinesisSinkSettings.of(Options.defaults).copy(ordering = WriteOrdering.ByKey)
    val service = new FakeStream(2)
    val byArn = StreamRef.parse(arn(1)).getOrElse(fail("no ARN"))
    var opened = 0
    val router = new StreamRouter(
      // The answer for the ARN is newer: the stream was deleted and created again meanwhile.
      ref => checked(ref = ref, created = if (ref == byArn) 2 else 1),
      stream => {
        opened += 1
        val sink = KinesisStreamSink.open(service, stream, settings, settings.newBounds, process)
        new StreamRouter.Target(stream, sink, () => (), () => stream.maxRecordBytes)
      },
      (_, failure) => failure
    )
    var refusals = 20
    service.refuse = _ =>
      Option.when(refusals > 0) {
        refusals -= 1
        org.sparkkinesis.service.PutResult.Rejected("InternalFailure", "try again")
      }
    (1 to 100).foreach { i =>
      router.write(if (i % 2 == 0) byArn else StreamRef.ByName("s"), new SinkRecord("key", None, Array(i.toByte)))
    }
    time.advance(5.minutes)
    router.flush()
    assert(opened == 1)
    assert(service.stored.map(_._2.data.head.toInt).toSeq == (1 to 100))
    assert(service.stored.map(_._1).distinct.size == 1 && HashKey.ofPartitionKey("key") > 0)
    assert(router.metrics.requests.entriesOut == 100)
    router.close()
  }
}
