package org.sparkkinesis.sink.kinesis

import java.util.concurrent.{CompletableFuture, CountDownLatch, TimeUnit}

import scala.concurrent.duration._

import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event.{EventSink, ShardPaced}
import org.sparkkinesis.model.StreamRef
import org.sparkkinesis.service.PutResult
import org.sparkkinesis.sink.kinesis.put.SinkRecord

/** A receiver of events that blocks. */
class SlowEventsSuite extends KinesisSinkTests {
  private class Writers {
    val (asked, proceed) = (new CountDownLatch(1), new CountDownLatch(1))
    private val slow: EventSink = {
      case _: ShardPaced =>
        asked.countDown()
        proceed.await()
      case _ => ()
    }
    private val settings = KinesisSinkSettings.of(Options.defaults)
    private val time = new VirtualScheduler
    private val stream = new FakeStream(1)
    private val process = new SinkProcess(time, new SharedStreamLimits)
    private val known = CheckedStream(
      StreamRef.ByName("s"),
      StreamIdentity("arn:aws:kinesis:us-east-1:000000000000:stream/s", 1, ""),
      1 << 20
    )
    stream.refuse = entry => Option.when(entry.partitionKey == "refused" && asked.getCount > 0)(throttling)

    def open(): KinesisStreamSink =
      KinesisStreamSink.open(stream, known, settings, settings.newBounds, process, slow)
    def write(to: KinesisStreamSink, key: String): Unit = to.write(new SinkRecord(key, None, Array[Byte](1)))

    /** Sends what the writers have buffered, on a thread of its own. */
    def advance(by: FiniteDuration): CompletableFuture[Void] = CompletableFuture.runAsync(() => time.advance(by))
    def stored: Int = stream.stored.size
  }

  test("a receiver of events that blocks delays neither another writer of the stream nor calls of its own writer") {
    val rig = new Writers
    val (first, second) = (rig.open(), rig.open())
    rig.write(first, "refused")
    val reporting = CompletableFuture.runAsync(() => first.flush())
    assert(rig.asked.await(20, TimeUnit.SECONDS), "the change of the rate was not reported")
    // The writer that reports holds no lock.
    assert(CompletableFuture.supplyAsync(() => first.metrics).get(20, TimeUnit.SECONDS).requests.throttled == 1)
    rig.write(second, "accepted")
    // The shard has a rate now, which depends on time.
    val flushing = CompletableFuture.runAsync(() => second.flush())
    rig.advance(1.minute).get(20, TimeUnit.SECONDS)
    flushing.get(20, TimeUnit.SECONDS)
    rig.proceed.countDown()
    rig.advance(1.minute).get(20, TimeUnit.SECONDS)
    reporting.get(20, TimeUnit.SECONDS)
    assert(rig.stored == 2)
    first.close()
    second.close()
  }

  test("changes that one thread reports while another one does are neither lost nor reported twice") {
    val rig = new Rig(8)
    var refusals = 0
    rig.stream.refuse = _ =>
      Option.when(refusals < 100) {
        refusals += 1
        PutResult.Rejected("ProvisionedThroughputExceededException", "Rate exceeded")
      }
    (1 to 200).foreach(n => rig.write(s"key $n", "data"))
    rig.flush()
    val paced = rig.events.of[ShardPaced].map(_.shard)
    assert(paced.nonEmpty && paced.distinct.size == paced.size)
  }
}
