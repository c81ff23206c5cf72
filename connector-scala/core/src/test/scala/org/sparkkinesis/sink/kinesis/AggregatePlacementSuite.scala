package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.aggregate.Deaggregator
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.model.hash.HashKey
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.service.{PutEntry, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.kinesis.pack.AggregatePacker
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.suite.TimedSuite

/** Aggregates are accepted only in the shard of all their records, independently of listings. */
class AggregatePlacementSuite extends TimedSuite {
  private class Rig(shards: Int, settings: KinesisSinkSettings) {
    val time = new VirtualScheduler
    val stream = new FakeStream(shards)
    val process = new SinkProcess(time, new SharedStreamLimits)
    var written = 0

    def open(created: Long = 1): KinesisStreamSink = {
      val identity = StreamIdentity("arn:aws:kinesis:us-east-1:000000000000:stream/s", created, "")
      val checked = CheckedStream(StreamRef.ByName("s"), identity, 1 << 20)
      KinesisStreamSink.open(stream, checked, settings, settings.newBounds, process)
    }

    /** Writes 200 more records and returns when they are accepted. */
    def write(sink: KinesisStreamSink): Unit = {
      (1 to 200).foreach { _ =>
        written += 1
        sink.write(new SinkRecord(s"key-${written % 40}", None, written.toString.getBytes("UTF-8")))
      }
      time.advance(30.seconds)
      sink.flush()
    }

    /**
     * The numbers that a reader receives that skips each aggregate with a record outside the range of its shard, like
     * KCL.
     */
    def readWhole: Seq[Int] = stream.stored.toSeq.flatMap { case (shard, entry) =>
      Option(Deaggregator.open(entry.data)) match {
        case None => Seq(text(entry.data))
        case Some(users) =>
          val all = 0 until users.count
          if (all.forall(i => isOf(shard, users.partitionKey(i)))) all.map(i => text(users.data(i))) else Nil
      }
    }

    private def isOf(shard: ShardId, key: String): Boolean =
      stream.rangeOf(shard).exists(_.contains(HashKey.ofPartitionKey(key)))
    private def text(data: Array[Byte]): Int = new String(data, "UTF-8").toInt

    def assertComplete(): Unit = assert(readWhole.toSet == (1 to written).toSet)
  }

  private val cases = Seq(
    "without order" -> KinesisSinkSettings.of(Options.defaults).copy(aggregated = true),
    "with ordering=key" ->
      KinesisSinkSettings.of(Options.defaults).copy(aggregated = true, ordering = WriteOrdering.ByKey)
  )

  cases.foreach { case (name, settings) =>
    test(
      s"an incomplete listing is not used for packing, and records stay plain until there is a complete one, $name"
    ) {
      val rig = new Rig(4, settings)
      rig.stream.listed = _.drop(1)
      val sink = rig.open()
      rig.write(sink)
      rig.assertComplete()
      assert(rig.stream.stored.size == 200)
      rig.stream.listed = identity
      rig.write(sink)
      rig.assertComplete()
      assert(rig.stream.stored.size <= 220, rig.stream.stored.size)
    }

    test(s"an outdated listing is not used for shards that responses have contradicted, $name") {
      val rig = new Rig(2, settings)
      val sink = rig.open()
      rig.write(sink)
      val before = rig.stream.openShards
      rig.stream.split(ShardId.ofIndex(0))
      rig.stream.listed = _ => before
      (1 to 5).foreach(_ => rig.write(sink))
      rig.assertComplete()
      // One misplaced aggregate was detected. After that, the records of the shard stayed plain.
      assert(sink.metrics.requests.possibleDuplicates <= 200, sink.metrics.requests)
      rig.stream.listed = identity
      rig.write(sink)
      val stored = rig.stream.stored.size
      rig.write(sink)
      rig.assertComplete()
      assert(rig.stream.stored.size - stored <= 20)
    }

    test(s"a recreated stream is listed again before its aggregates count as stored, $name") {
      val rig = new Rig(2, settings)
      val sink = rig.open()
      rig.write(sink)
      rig.stream.stored.clear()
      rig.written = 0
      // Its first shard has the name of one with a range twice as large.
      rig.stream.create(4)
      rig.write(sink)
      rig.assertComplete()
      assert(rig.stream.stored.size <= 20)
    }

    test(s"a stream recreated with fewer shards does not count as one with automatic distribution, $name") {
      val rig = new Rig(4, settings)
      val sink = rig.open()
      rig.write(sink)
      rig.stream.stored.clear()
      rig.written = 0
      rig.stream.create(2)
      rig.write(sink)
      rig.assertComplete()
      val next = rig.open(created = 2)
      rig.write(next)
      rig.assertComplete()
    }
  }

  test("while the shards cannot be listed, records stay plain, and nothing waits for the listing") {
    val rig = new Rig(4, cases.head._2)
    rig.stream.listingFailures ++=
      Seq.fill(100)(new ServiceException(
        ServiceErrorKind.Internal,
        org.sparkkinesis.service.Operation.ListShards,
        "ServiceUnavailable",
        "try later"
      ))
    val sink = rig.open()
    rig.write(sink)
    rig.assertComplete()
    assert(rig.stream.stored.size == 200)
  }

  test("a continuously busy writer lists the shards once") {
    val rig = new Rig(4, cases.head._2)
    val sink = rig.open()
    (1 to 100).foreach { i =>
      sink.write(new SinkRecord(s"key-$i", None, s"$i".getBytes("UTF-8")))
      rig.time.advance(500.millis)
    }
    rig.time.advance(5.seconds)
    sink.flush()
    assert(rig.stream.listings == 1)
  }

  test("a packed request without a shard map does not exceed the entry limit of PutRecords") {
    val records = (1 to 2000).map(i => new SinkRecord(s"key-${i % 700}", None, Array[Byte](1)))
    Seq(false, true).foreach { together =>
      val packed = AggregatePacker(together, 500).pack(records, None)
      assert(packed.entries.size == 500)
      assert(packed.entries.forall(_.shard.isEmpty))
      val keys = packed.entries.map(_.put.partitionKey)
      if (together) assert(keys.distinct.size == 500)
    }
  }

  test("a rejected entry is sent again, also if its request is verified with a listing") {
    val rig = new Rig(2, cases.head._2)
    val sink = rig.open()
    rig.write(sink)
    rig.stream.split(ShardId.ofIndex(1))
    var refusals = 3
    rig.stream.refuse = (_: PutEntry) =>
      Option.when(refusals > 0) {
        refusals -= 1
        org.sparkkinesis.service.PutResult.Rejected("InternalFailure", "try again")
      }
    rig.write(sink)
    rig.assertComplete()
  }
}
