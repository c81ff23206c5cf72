package org.sparkkinesis.spark.executor

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.ChunkSummary
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.consume.ShardSnapshot
import org.sparkkinesis.event.ConsumerHealth
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamShard}
import org.sparkkinesis.spark.protocol.{ProtocolCodec, Report}
import org.sparkkinesis.suite.TimedSuite

class ProgressReporterSuite extends TimedSuite {
  private val Shard = StreamShard("orders", ShardId("shardId-000000000000"))
  private def chunk(last: Int) = ChunkSummary(SequenceNumber(last.toString), 1, 1, 0, 0, 0, 0)
  private def snapshot(chunks: Int*) =
    ShardSnapshot(Shard, 1, StartingPosition.TrimHorizon, chunks.map(chunk).toVector, 0, 0, None, None)

  private class Setup(shards: Int = 1) {
    val scheduler = new VirtualScheduler
    val sent = mutable.ArrayBuffer.empty[Report]
    val reporter = new ProgressReporter(
      "1",
      7,
      scheduler,
      bytes =>
        ProtocolCodec.decodeToDriver(bytes) match {
          case report: Report => sent += report; ()
          case other => fail(s"no report: $other")
        },
      () => shards,
      () => false,
      () => Set("orders"),
      () => Map.empty,
      () => ConsumerHealth(bufferBytes = 1024),
      (_, epoch) => Option.when(epoch == 2)(1)
    )
    def told: Seq[Int] = sent.flatMap(_.shards).flatMap(_.chunks).map(_.last.value.toInt).toSeq
  }

  test("a report has the epoch under which the consumer started, unless it is of an older epoch") {
    val s = new Setup
    Seq(1L, 2L).foreach { epoch =>
      s.reporter.onReadUpTo(Shard, epoch, 5, 0, hadRecords = false)
      s.scheduler.advance(1.second)
    }
    assert(s.sent.flatMap(_.shards).map(told => told.epoch -> told.startEpoch) == Seq(1L -> 0L, 2L -> 1L))
  }

  test("reports contain the unreachable streams, also without other changes") {
    val s = new Setup
    s.scheduler.advance(6.seconds)
    assert(s.sent.map(_.unreachable).toSet == Set(Set("orders")))
  }

  test("a full report replaces unsent changes, and later changes are added to it") {
    val s = new Setup
    s.reporter.onChunks(Shard, 1, Seq(chunk(10)))
    s.reporter.tellAll(Seq(snapshot(10, 20)))
    s.reporter.onChunks(Shard, 1, Seq(chunk(30)))
    s.scheduler.runDue()
    assert(s.told == Seq(10, 20, 30))
    assert(s.sent.map(_.full).toSeq == Seq(true))
  }

  test("a chunk that arrives during the snapshots is reported once, in them or after them") {
    val inside = new Setup
    inside.reporter.tellAll(Seq(snapshot(10, 20)))
    inside.reporter.onChunks(Shard, 1, Seq(chunk(20)))
    inside.scheduler.runDue()
    assert(inside.told == Seq(10, 20))
    val after = new Setup
    after.reporter.tellAll {
      // The consumer's thread has added a chunk after its snapshot, and waits for the lock to report it.
      val taken = Seq(snapshot(10))
      val consumer = new Thread(() => after.reporter.onChunks(Shard, 1, Seq(chunk(20))))
      consumer.start()
      while (consumer.getState != Thread.State.BLOCKED) Thread.onSpinWait()
      blocked = consumer
      taken
    }
    blocked.join()
    after.scheduler.runDue()
    assert(after.told == Seq(10, 20))
  }
  private var blocked: Thread = null

  test("with thousands of shards, changes of 20 ms are one report") {
    val s = new Setup(shards = 5000)
    (1 to 1000).foreach { i =>
      s.reporter.onChunks(Shard, 1, Seq(chunk(i)))
      s.scheduler.advance(1.milli)
    }
    s.scheduler.advance(20.millis)
    assert(s.told == (1 to 1000))
    assert(s.sent.size <= 1000 / 20 + 2)
  }

  test("the first change after a pause is reported at once, also with thousands of shards") {
    val s = new Setup(shards = 5000)
    s.reporter.onChunks(Shard, 1, Seq(chunk(10)))
    s.scheduler.runDue()
    assert(s.told == Seq(10))
    s.scheduler.advance(20.millis)
    s.reporter.onChunks(Shard, 1, Seq(chunk(20)))
    s.scheduler.runDue()
    assert(s.told == Seq(10, 20))
  }

  test("with a few shards, every change is reported at once") {
    val s = new Setup(shards = 50)
    (1 to 10).foreach { i =>
      s.reporter.onChunks(Shard, 1, Seq(chunk(i)))
      s.scheduler.runDue()
    }
    assert(s.told == (1 to 10))
    assert(s.sent.size == 10)
  }

  test("changes are added to a report that is waiting to be sent; report numbers increase by one") {
    val s = new Setup
    s.reporter.onChunks(Shard, 1, Seq(chunk(10)))
    s.reporter.onChunks(Shard, 1, Seq(chunk(20)))
    s.scheduler.runDue()
    s.reporter.onChunks(Shard, 1, Seq(chunk(30)))
    s.scheduler.runDue()
    assert(s.sent.map(_.number).toSeq == Seq(1L, 2L))
    assert(s.told == Seq(10, 20, 30))
  }

  test("reaching the tip is reported at once, staying there only periodically") {
    val s = new Setup
    s.reporter.onReadUpTo(Shard, 1, 1000, 0, hadRecords = false)
    s.scheduler.runDue()
    assert(s.sent.size == 1)
    (1 to 10).foreach(i => s.reporter.onReadUpTo(Shard, 1, 1000L + i, 0, hadRecords = false))
    s.scheduler.runDue()
    assert(s.sent.size == 1)
    s.scheduler.advance(500.millis)
    assert(s.sent.flatMap(_.shards).map(_.readUpToMillis).toSeq == Seq(1000L, 1010L))
  }

  test("only an answer without records at the tip shows that a shard is open") {
    Seq[(String, ProgressReporter => Unit, Seq[Long])](
      ("no records", _.onReadUpTo(Shard, 1, 1000, 0, hadRecords = false), Seq(1000L)),
      ("not at the tip", _.onReadUpTo(Shard, 1, 1000, 5, hadRecords = false), Nil),
      (
        "records",
        told => { told.onChunks(Shard, 1, Seq(chunk(10))); told.onReadUpTo(Shard, 1, 1000, 0, hadRecords = true) },
        Nil
      ),
      ("records that were all filtered", _.onReadUpTo(Shard, 1, 1000, 0, hadRecords = true), Nil),
      (
        "an answer after records",
        told => {
          told.onChunks(Shard, 1, Seq(chunk(10)))
          told.onReadUpTo(Shard, 1, 1000, 0, hadRecords = true)
          told.onReadUpTo(Shard, 1, 2000, 0, hadRecords = false)
        },
        Seq(2000L)
      )
    ).foreach { case (name, answers, expected) =>
      val s = new Setup
      answers(s.reporter)
      s.scheduler.advance(500.millis)
      assert(s.sent.flatMap(_.shards).map(_.openUpToMillis).filter(_ > 0).toSeq == expected, name)
    }
    // A report is sent between the records of an answer and its time.
    val s = new Setup
    s.reporter.onChunks(Shard, 1, Seq(chunk(10)))
    s.scheduler.runDue()
    s.reporter.onReadUpTo(Shard, 1, 1000, 0, hadRecords = true)
    s.scheduler.advance(500.millis)
    assert(s.sent.flatMap(_.shards).forall(_.openUpToMillis == 0) && s.sent.size > 1)
  }

  test("changes of an older epoch are not reported after those of a newer one") {
    val s = new Setup
    s.reporter.onChunks(Shard, 2, Seq(chunk(10)))
    s.reporter.onChunks(Shard, 1, Seq(chunk(99)))
    s.scheduler.runDue()
    assert(s.told == Seq(10))
  }

  test("without changes an empty report is sent every five seconds, so that a lost report is detected") {
    val s = new Setup
    s.scheduler.advance(4900.millis)
    assert(s.sent.size == 0)
    s.scheduler.advance(10.seconds)
    assert(s.sent.map(report => (report.number, report.shards.size)).toSeq == Seq((1L, 0), (2L, 0)))
  }

  test("no report is sent after close") {
    val s = new Setup
    s.reporter.onChunks(Shard, 1, Seq(chunk(10)))
    s.reporter.close()
    s.scheduler.advance(1.minute)
    assert(s.sent.size == 0)
  }
}
