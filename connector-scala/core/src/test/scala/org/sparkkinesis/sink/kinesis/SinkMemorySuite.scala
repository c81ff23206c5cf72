package org.sparkkinesis.sink.kinesis

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.sparkkinesis.config.Options
import org.sparkkinesis.service.{PutEntry, PutResult}

/** The memory of a task that writes to a stream without answers: its records, and the copies in its requests. */
class SinkMemorySuite extends KinesisSinkTests {
  private val limit = 256 * 1024L

  for {
    isAggregated <- Seq(false, true)
    largest <- Seq(1, 100, 20000)
  } test(s"a task holds at most its limits of records of up to $largest bytes, with aggregation: $isAggregated") {
    val all = KinesisSinkSettings.of(Options.defaults)
    val settings = all.copy(
      requests = all.requests.copy(maxBufferedBytes = limit, maxBufferedEntries = 2000, maxBatchBytes = limit / 4),
      aggregated = isAggregated
    )
    val rig = new Rig(4, settings)
    val copies = new ConcurrentLinkedQueue[IndexedSeq[PutEntry]]
    rig.stream.puttingWith = Some { entries =>
      copies.add(entries)
      new CompletableFuture[IndexedSeq[PutResult]]
    }
    val random = new Random(largest)
    val sink = rig.sink
    val records = (1 to 20000).iterator.map(_ => (s"key ${random.nextInt(100)}", "x" * random.nextInt(largest + 1)))
    val writing = new Thread(() =>
      try records.foreach { case (key, data) => rig.write(key, data) }
      catch { case _: Exception => () }
    )
    writing.setDaemon(true)
    writing.start()
    eventually(writing.getState == Thread.State.WAITING && copies.size > 0)

    val held = sink.metrics.requests
    val entries = held.bufferedEntries + held.inFlightEntries
    assert(held.unacknowledgedBytes <= limit, held)
    assert(entries <= 2000 || isAggregated && entries * KinesisSinkSettings.BytesOfEntry <= limit, held)
    val copied = copies.asScala.iterator.flatten.map(_.size.toLong).sum
    assert(copied <= held.unacknowledgedBytes, s"the copies of $held have $copied bytes")
    sink.close()
    writing.join(TimeUnit.SECONDS.toMillis(10))
    assert(!writing.isAlive)
  }

  private def eventually(condition: => Boolean): Unit = {
    val deadline = System.nanoTime + TimeUnit.SECONDS.toNanos(20)
    while (!condition && System.nanoTime < deadline) Thread.`yield`()
    assert(condition)
  }
}
