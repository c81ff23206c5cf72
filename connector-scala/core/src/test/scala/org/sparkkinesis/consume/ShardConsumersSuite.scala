package org.sparkkinesis.consume

import scala.collection.mutable
import scala.concurrent.duration._

import org.sparkkinesis.chunk.{ChunkSummary, DecodeSettings}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.consume.poll.{DefaultPolling, PollingSettings}
import org.sparkkinesis.event.ConsumerMetrics
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{StreamShard, _}
import org.sparkkinesis.service.{Operation, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

class ShardConsumersSuite extends TimedSuite {
  private val A = StreamShard("orders", ShardId("shardId-000000000000"))
  private val B = StreamShard("orders", ShardId("shardId-000000000001"))
  private val Children = Seq(ChildShard(ShardId("shardId-000000000009"), Seq(A.shard), HashKeyRange.Whole))

  private class Setup(bufferBytes: Long = 100 * 1024 * 1024, maxRecordsPerFetch: Int = 3) extends ProgressListener {
    val scheduler = new VirtualScheduler
    val service = new FakeKinesis(scheduler)
    val buffer = new PrefetchBuffer(bufferBytes)
    val metrics = new ConsumerMetrics
    val told = mutable.ArrayBuffer.empty[(StreamShard, Long, ChunkSummary)]
    val readUpTo = mutable.Map.empty[StreamShard, Long]
    val ends = mutable.ArrayBuffer.empty[(StreamShard, Long, Seq[ChildShard])]
    val failures = mutable.ArrayBuffer.empty[(StreamShard, Long, ServiceException)]
    private val publishers = DefaultPolling.of(
      service,
      scheduler,
      metrics,
      PollingSettings.of(Options.defaults).copy(maxRecordsPerFetch)
    )
    val consumers = new ShardConsumers(publishers, buffer, DecodeSettings.of(Options.defaults), this, metrics)

    override def onChunks(shard: StreamShard, epoch: Long, chunks: Seq[ChunkSummary]): Unit =
      told ++= chunks.map((shard, epoch, _))
    override def onReadUpTo(shard: StreamShard, epoch: Long, millis: Long, behind: Long, had: Boolean): Unit =
      readUpTo(shard) = millis
    override def onShardEnd(shard: StreamShard, epoch: Long, children: Seq[ChildShard]): Unit =
      ends += ((shard, epoch, children))
    override def onFailure(shard: StreamShard, epoch: Long, error: ServiceException): Unit =
      failures += ((shard, epoch, error))

    def put(shard: StreamShard, texts: String*): Seq[SequenceNumber] = service.put(shard.shard.value, texts: _*)
    def read(shard: StreamShard, after: StartingPosition, end: SequenceNumber): Option[Seq[String]] =
      consumers.read(shard, after, end).map(
        _.flatMap(_.load()).flatMap(c => (0 until c.rows).map(r => new String(c.data(r), "UTF-8")))
      )
  }

  test("prefetched chunks are reported one by one, and reading does not remove them") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c", "d", "e")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(3.seconds)
    assert(s.told.map(t => (t._1, t._2, t._3.last, t._3.rows)).toSeq == Seq((A, 1L, n(2), 3), (A, 1L, n(4), 2)))
    for (_ <- 1 to 2) assert(s.read(A, TrimHorizon, n(4)) == Some(Seq("a", "b", "c", "d", "e")))
    assert(s.read(A, TrimHorizon, n(2)) == Some(Seq("a", "b", "c")))
    assert(s.read(A, AfterSequenceNumber(n(2)), n(4)) == Some(Seq("d", "e")))
    assert(s.read(A, AfterSequenceNumber(n(4)), n(4)) == Some(Nil))
  }

  test("the consumers of a deleted stream share the calls that find out what is missing") {
    val s = new Setup
    val shards = (0 until 1000).map(index => StreamShard("orders", ShardId.ofIndex(index)))
    s.service.fail(Operation.GetShardIterator, Seq.fill(1000)(ServiceErrorKind.ResourceNotFound): _*)
    s.service.fail(Operation.DescribeStreamSummary, Seq.fill(1000)(ServiceErrorKind.ResourceNotFound): _*)
    shards.foreach(s.consumers.start(_, TrimHorizon, 1))
    s.scheduler.advance(1.minute)
    assert(s.failures.map(_._1).toSet == shards.toSet && s.failures.size == 1000)
    assert(s.failures.forall(failure => MissingResource.of(failure._3).contains(MissingResource.Stream)))
    assert(s.service.callsOf(Operation.DescribeStreamSummary).size == 2)
  }

  test("a range can start and end at any record, also within a chunk") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c", "d", "e")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(3.seconds)
    assert(s.read(A, AfterSequenceNumber(n(0)), n(3)) == Some(Seq("b", "c", "d")))
  }

  test("a range that is not held exactly is not served") {
    val s = new Setup
    val before = s.put(A, "before").head
    s.scheduler.advance(10.seconds)
    val n = s.put(A, "a", "b")
    s.consumers.start(A, AtTimestamp(s.scheduler.currentMillis), 1)
    s.scheduler.advance(3.seconds)
    assert(s.read(A, AfterSequenceNumber(before), n(1)) == None, "records before the timestamp may be missing")
    assert(s.read(A, TrimHorizon, n(1)) == None)
    assert(s.read(A, AfterSequenceNumber(n(0)), SequenceNumber("999999")) == None, "not fetched yet")
    assert(s.read(B, TrimHorizon, n(1)) == None, "another shard")
    assert(s.read(A, AfterSequenceNumber(n(0)), n(1)) == Some(Seq("b")))
  }

  test("released chunks are removed, and the remaining ones are served") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c", "d", "e")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(3.seconds)
    val full = s.buffer.usedBytes
    s.consumers.release(A, n(2))
    assert(s.buffer.usedBytes < full)
    assert(s.read(A, TrimHorizon, n(4)) == None)
    assert(s.read(A, AfterSequenceNumber(n(2)), n(4)) == Some(Seq("d", "e")))
    assert(s.consumers.snapshot(A).get.heldFrom == AfterSequenceNumber(n(2)))
    s.consumers.release(A, n(0))
    assert(s.read(A, AfterSequenceNumber(n(2)), n(4)) == Some(Seq("d", "e")), "an older release has no effect")
    s.consumers.release(A, n(4))
    assert(s.consumers.snapshot(A).get.chunks == IndexedSeq.empty[ChunkSummary])
    s.scheduler.advance(1.second)
    assert(s.buffer.usedBytes <= 1, s.buffer.usedBytes)
  }

  test("a release within a chunk keeps the later records of the chunk") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(3.seconds)
    s.consumers.release(A, n(0))
    assert(s.read(A, AfterSequenceNumber(n(0)), n(2)) == Some(Seq("b", "c")))
  }

  test("a consumer that is behind a release skips to it and reads nothing twice") {
    val s = new Setup(maxRecordsPerFetch = 1)
    val n = s.put(A, "a", "b", "c", "d", "e", "f")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advanceUntil(5.seconds)(s.told.size == 1)
    s.consumers.release(A, n(3))
    s.scheduler.advance(5.seconds)
    assert(s.read(A, AfterSequenceNumber(n(3)), n(5)) == Some(Seq("e", "f")))
    assert(s.told.map(_._3.last).toSeq == Seq(n(0), n(4), n(5)))
  }

  test("a batch in flight during a skip is dropped") {
    val s = new Setup(maxRecordsPerFetch = 1)
    val n = s.put(A, "a", "b", "c")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advanceUntil(5.seconds)(s.service.callsOf(Operation.GetRecords).nonEmpty)
    s.consumers.release(A, n(1))
    s.scheduler.advance(5.seconds)
    assert(s.told.map(_._3.last).toSeq == Seq(n(2)))
  }

  test("a full buffer stops fetching, and a release resumes it without a deadlock") {
    val s = new Setup(bufferBytes = 20000)
    val n = (1 to 400).map(i => s.service.put(A.shard.value, new Array[Byte](1000), s"k$i"))
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(60.seconds)
    val calls = s.service.callsOf(Operation.GetRecords).size
    assert(s.buffer.isFull)
    assert(s.buffer.usedBytes <= 20000, s.buffer.usedBytes)
    s.scheduler.advance(60.seconds)
    assert(s.service.callsOf(Operation.GetRecords).size == calls)
    var rounds = 0
    while (s.told.last._3.last != n.last && rounds < 1000) {
      rounds += 1
      s.consumers.release(A, s.told.last._3.last)
      s.scheduler.advance(1.second)
    }
    assert(s.told.map(_._3.rows).sum == 400)
    assert(s.told.map(_._3.last).distinct.size == s.told.size)
  }

  test("all shards that share a small buffer make progress") {
    val s = new Setup(bufferBytes = 10000)
    val shards = (0 until 20).map(i => StreamShard("orders", ShardId.ofIndex(i.toLong)))
    shards.foreach(shard => (1 to 20).foreach(_ => s.service.put(shard.shard.value, new Array[Byte](500))))
    shards.foreach(s.consumers.start(_, TrimHorizon, 1))
    var rounds = 0
    while (s.told.iterator.map(_._3.rows).sum < 400 && rounds < 500) {
      rounds += 1
      s.scheduler.advance(1.second)
      shards.foreach(shard =>
        s.told.filter(_._1 == shard).lastOption.foreach(t => s.consumers.release(shard, t._3.last))
      )
    }
    assert(s.told.groupBy(_._1).view.mapValues(_.map(_._3.rows).sum).toMap == shards.map(_ -> 20).toMap)
  }

  test("the end of a shard is reported with its children after its data and remains in the snapshot") {
    val s = new Setup
    val n = s.put(A, "a")
    s.service.close(A.shard.value, Children: _*)
    s.consumers.start(A, TrimHorizon, 4)
    s.scheduler.advance(3.seconds)
    assert(s.ends.toSeq == Seq((A, 4L, Children)))
    assert(s.told.map(_._3.last).toSeq == n)
    assert(s.consumers.snapshot(A).get.end == Some(Children))
    s.consumers.release(A, n.head)
    s.scheduler.advance(1.minute)
    assert(s.ends.size == 1)
  }

  test("a fatal error is reported once, and held records remain readable") {
    val s = new Setup
    val n = s.put(A, "a", "b")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(1.second)
    s.service.fail(Operation.GetRecords, ServiceErrorKind.AccessDenied)
    s.scheduler.advance(1.minute)
    assert(s.failures.map(f => (f._1, f._3.kind)).toSeq == Seq((A, ServiceErrorKind.AccessDenied)))
    assert(s.read(A, TrimHorizon, n(1)) == Some(Seq("a", "b")))
    assert(s.consumers.snapshot(A).get.failure.map(_.kind) == Some(ServiceErrorKind.AccessDenied))
  }

  test("a start under a newer epoch uses held records without fetching them again") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c", "d")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(3.seconds)
    s.consumers.start(A, AfterSequenceNumber(n(1)), 2)
    s.put(A, "e")
    s.scheduler.advance(3.seconds)
    assert(s.read(A, AfterSequenceNumber(n(1)), n(3)) == Some(Seq("c", "d")))
    assert(s.told.map(_._2).toSeq == Seq(1L, 1L, 2L))
    assert(s.service.callsOf(Operation.GetShardIterator).size == 1)
    assert(s.consumers.snapshot(A).get.epoch == 2L)
  }

  test("a start under a newer epoch at an older position restarts the consumer, and an older epoch has no effect") {
    val s = new Setup
    val n = s.put(A, "a", "b", "c")
    s.consumers.start(A, AfterSequenceNumber(n(1)), 5)
    s.scheduler.advance(2.seconds)
    s.consumers.start(A, TrimHorizon, 4)
    assert(s.consumers.snapshot(A).get.heldFrom == AfterSequenceNumber(n(1)))
    s.consumers.start(A, TrimHorizon, 6)
    s.scheduler.advance(2.seconds)
    assert(s.read(A, TrimHorizon, n(2)) == Some(Seq("a", "b", "c")))
    assert(s.told.map(t => (t._2, t._3.last)).toSeq == Seq((5L, n(2)), (6L, n(2))))
  }

  test("a start in a recreated stream restarts the consumer, and held records are of the stream that is asked for") {
    val s = new Setup
    val n = s.put(A, "a")
    s.consumers.start(A, TrimHorizon, 1, creationMillis = 10)
    s.scheduler.advance(1.second)
    assert(s.consumers.read(A, TrimHorizon, n.head, creationMillis = 10).nonEmpty)
    assert(s.consumers.read(A, TrimHorizon, n.head, creationMillis = 11).isEmpty)
    s.consumers.start(A, TrimHorizon, 2, creationMillis = 10)
    s.consumers.start(A, TrimHorizon, 3, creationMillis = 11)
    assert(s.consumers.read(A, TrimHorizon, n.head, creationMillis = 11).isEmpty, "nothing is fetched yet")
    s.scheduler.advance(1.second)
    assert(s.consumers.read(A, TrimHorizon, n.head, creationMillis = 11).nonEmpty)
    assert(s.service.callsOf(Operation.GetShardIterator).size == 2)
  }

  test("a start after a failure restarts the consumer") {
    val s = new Setup
    val n = s.put(A, "a")
    s.service.fail(Operation.GetShardIterator, ServiceErrorKind.AccessDenied)
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advance(1.second)
    s.consumers.start(A, TrimHorizon, 2)
    s.scheduler.advance(1.second)
    assert(s.read(A, TrimHorizon, n.head) == Some(Seq("a")))
  }

  test("a stopped shard makes no calls, reports nothing and returns its memory") {
    val s = new Setup
    s.put(A, "a", "b", "c", "d", "e", "f", "g")
    s.consumers.start(A, TrimHorizon, 1)
    s.scheduler.advanceUntil(1.second)(s.told.nonEmpty)
    val told = s.told.size
    s.consumers.stop(A)
    s.scheduler.advance(1.minute)
    assert(s.told.size == told)
    assert(s.buffer.usedBytes == 0L)
    assert(s.scheduler.pending == 0)
    assert(s.consumers.shards == Set.empty[StreamShard])
  }

  test("at the tip the time up to which the shard was read is reported without new records") {
    val s = new Setup
    s.consumers.start(A, TrimHorizon, 1)
    val begun = s.scheduler.currentMillis
    s.scheduler.advance(10.seconds)
    assert(s.readUpTo(A) > begun + 9000, s.readUpTo(A) - begun)
    assert(s.told.size == 0)
  }
}
