package org.sparkkinesis.consume

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.aggregate.Containers
import org.sparkkinesis.aggregate.Containers.User
import org.sparkkinesis.chunk.{Chunk, ChunkBuilder, ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.DefaultPolling
import org.sparkkinesis.event.{ConsumerMetrics, RecordedEvents, RowsFiltered}
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.service.{Operation, ServiceException}
import org.sparkkinesis.suite.TimedSuite

/** Reads that begin or end within an aggregate, and the records that come next in a shard. */
class AggregateCutsSuite extends TimedSuite {
  private val Shard = StreamShard("orders", ShardId.ofIndex(0))
  private val Child = ChildShard(ShardId.ofIndex(9), Seq(Shard.shard), hash.HashKeyRange.Whole)
  private val settings = DecodeSettings.of(Options.defaults)

  private object Ignore extends ProgressListener {
    override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit = ()
    override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit = ()
    override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit = ()
    override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit = ()
  }

  /** Three aggregates of three user records each: "a0", "a1", … "c2". */
  private class Setup(decode: DecodeSettings = settings) {
    val scheduler = new VirtualScheduler
    val service = new FakeKinesis(scheduler)
    private val publishers = DefaultPolling.of(service, scheduler, new ConsumerMetrics)
    val buffer = new PrefetchBuffer(1 << 20)
    val events = new RecordedEvents
    val consumers = new ShardConsumers(publishers, buffer, decode, Ignore, new ConsumerMetrics, events)
    val numbers: Seq[SequenceNumber] =
      Seq("a", "b", "c").map(name =>
        service.put(Shard.shard.value, Containers.of((0 to 2).map(i => User("k", s"$name$i")): _*))
      )

    def start(at: StartingPosition, epoch: Long = 1): Unit = {
      consumers.start(Shard, at, epoch)
      scheduler.advance(3.seconds)
    }
    def head(from: StartingPosition): Seq[String] = texts(consumers.head(Shard, from).flatMap(_.chunk).toSeq)
  }

  private def texts(chunks: Seq[Chunk]): Seq[String] =
    chunks.flatMap(chunk => (0 until chunk.rows).map(row => new String(chunk.data(row), "UTF-8")))

  private class Direct(records: IndexedSeq[KinesisRecord]) extends RecordPublisherFactory {
    override def subscribe(shard: StreamShard, from: StartingPosition, subscriber: RecordSubscriber): RecordPublisher =
      new RecordPublisher {
        private val batches = mutable.Queue(records)
        override def request(maxBytes: Long): Unit = subscriber.onBatch(RecordBatch(batches.dequeue(), 100, 0))
        override def cancel(): Unit = ()
      }
  }

  private val records = (1 to 3).map(n =>
    new KinesisRecord(n.toString, "k", 0, Containers.of((0 to 2).map(i => User("k", s"$n$i")): _*), null)
  )

  private def user(number: Int, sub: Int) = UserRecord(SequenceNumber(number.toString), sub.toLong)

  Seq(
    (Some(user(1, 0)), RangeEnd.Within(user(1, 1)), Seq("11")),
    (Some(user(1, 1)), RangeEnd.Within(user(3, 0)), Seq("12", "20", "21", "22", "30")),
    (None, RangeEnd.Within(user(2, 1)), Seq("10", "11", "12", "20", "21")),
    (Some(user(1, 1)), RangeEnd.At(SequenceNumber("2")), Seq("12", "20", "21", "22"))
  ).foreach { case (skipped, end, expected) =>
    test(s"a direct read after $skipped that ends with $end has these user records only: ${expected.mkString(" ")}") {
      val chunks = new ChunkBuilder(settings, None, new ConsumerMetrics)
      val reader =
        new RangeReader(new Direct(records), Shard, TrimHorizon, end, chunks, skipUpTo = skipped)
      assert(texts(reader.toSeq) == expected)
    }
  }

  test("the next records are those at or after a position, and releasing them moves on") {
    val s = new Setup
    s.start(TrimHorizon)
    assert(s.head(TrimHorizon).take(2) == Seq("a0", "a1"))
    assert(s.head(AtSequenceNumber(s.numbers(1))) == Seq("b0", "b1", "b2", "c0", "c1", "c2"))
    assert(s.head(AfterSequenceNumber(s.numbers(1))) == Seq("c0", "c1", "c2"))
    s.consumers.release(Shard, s.numbers(2))
    assert(s.head(AfterSequenceNumber(s.numbers(2))) == Nil)
  }

  test("the end of a shard is known when it has no further records") {
    val s = new Setup
    s.service.close(Shard.shard.value, Child)
    s.start(TrimHorizon)
    assert(s.consumers.head(Shard, AfterSequenceNumber(s.numbers(1))).flatMap(_.end) == None)
    assert(s.consumers.head(Shard, AfterSequenceNumber(s.numbers(2))).flatMap(_.end) == Some(Seq(Child)))
    assert(s.consumers.head(StreamShard("orders", Child.id), TrimHorizon) == None)
  }

  test("a consumer continues at a held record of which only a part was read") {
    val s = new Setup
    s.start(TrimHorizon)
    s.consumers.release(Shard, s.numbers(0))
    val calls = s.service.callsOf(Operation.GetShardIterator).size
    s.start(AtSequenceNumber(s.numbers(1)), 2)
    assert(s.service.callsOf(Operation.GetShardIterator).size == calls)
    assert(s.consumers.head(Shard, AtSequenceNumber(s.numbers(1))).map(_.epoch) == Some(2))
    assert(s.head(AtSequenceNumber(s.numbers(1))).headOption == Some("b0"))
    s.start(AtSequenceNumber(s.numbers(0)), 3)
    assert(s.service.callsOf(Operation.GetShardIterator).size == calls + 1)
    assert(s.head(AtSequenceNumber(s.numbers(0))).headOption == Some("a0"))
  }

  test("rows that the hash range filter drops are reported") {
    val filtering = new Setup(settings.copy(hashRangeFilter = true))
    val none = hash.HashKeyRange(0, 0)
    filtering.consumers.start(Shard, TrimHorizon, 1, Some(none))
    filtering.scheduler.advance(3.seconds)
    assert(filtering.events.of[RowsFiltered] == Vector(RowsFiltered(Shard, 9)))
    val other = new Setup
    other.start(TrimHorizon)
    assert(other.events.of[RowsFiltered].isEmpty)
  }

  test("an aggregate without records has no row and does not stop the shard") {
    val s = new Setup
    s.service.put(Shard.shard.value, Containers.seal(Containers.bytesField(1, "key".getBytes)))
    val last = s.service.put(Shard.shard.value, "after".getBytes)
    s.start(TrimHorizon)
    val held = s.consumers.read(Shard, AfterSequenceNumber(s.numbers.last), last).get
    assert(texts(held.flatMap(_.load())) == Seq("after"))
  }
}
