package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.aggregate.{Aggregator, Deaggregator}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.event._
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.model.{ShardId, StreamRef}
import org.sparkkinesis.service.{Operation, PutEntry, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.sink.{DeliveryFailedException, FatalSinkException}
import org.sparkkinesis.suite.TimedSuite

class KinesisStreamSinkSuite extends TimedSuite {
  private val throttling = PutResult.Rejected("ProvisionedThroughputExceededException", "Rate exceeded for shard")

  private class Rig(shards: Int, settings: KinesisSinkSettings = KinesisSinkSettings.of(Options.defaults)) {
    val time = new VirtualScheduler
    val stream = new FakeStream(shards)
    val events = new RecordedEvents
    private val process = new SinkProcess(time, new SharedStreamLimits)
    var created = 1L
    def open(): KinesisStreamSink = {
      val identity = StreamIdentity("arn:aws:kinesis:us-east-1:000000000000:stream/s", created, "")
      val checked = CheckedStream(StreamRef.ByName("s"), identity, 1 << 20)
      KinesisStreamSink.open(stream, checked, settings, settings.newBounds, process, events)
    }
    lazy val sink: KinesisStreamSink = open()

    def write(key: String, data: String, hash: Option[String] = None): Unit =
      sink.write(new SinkRecord(key, hash, data.getBytes("UTF-8")))

    /** The stored user records by shard, as a reader receives them. */
    def read: Seq[(ShardId, String, String)] = stream.stored.toSeq.flatMap { case (shard, entry) =>
      Option(Deaggregator.open(entry.data)) match {
        case Some(users) =>
          (0 until users.count).map(i => (shard, users.partitionKey(i), new String(users.data(i), "UTF-8")))
        case None => Seq((shard, entry.partitionKey, new String(entry.data, "UTF-8")))
      }
    }

    def flush(): Unit = {
      // Backoff uses virtual time, so due tasks run before the flush waits for them.
      time.advance(30.seconds)
      sink.flush()
    }
  }

  private def failure(kind: ServiceErrorKind) =
    new ServiceException(kind, Operation.PutRecords, s"${kind}Exception", "message of the service")

  test("records are stored with their keys, payloads and explicit hash keys") {
    val rig = new Rig(4)
    rig.write("a", "1")
    rig.write("b", "2", Some("340282366920938463463374607431768211455"))
    rig.flush()
    assert(
      rig.stream.stored.map { case (_, e) => (e.partitionKey, e.explicitHashKey) }.toSeq ==
        Seq("a" -> None, "b" -> Some("340282366920938463463374607431768211455"))
    )
    assert(rig.stream.stored.last._1 == ShardId.ofIndex(3))
    assert(rig.sink.metrics.shards.recordsStored == 2L)
  }

  test("an incomplete listing after a reshard is requested again, and then the lanes are known") {
    val rig = new Rig(3)
    rig.write("a", "1")
    rig.flush()
    val before = rig.stream.listings
    rig.stream.listingsWithHole = before + 2
    rig.stream.split(rig.stream.stored.head._1)
    rig.write("a", "2")
    rig.flush()
    assert(rig.stream.listings == before + 3)
    assert(rig.events.all.collect { case refreshed: ShardMapRefreshed => refreshed.shards } == Seq(3, 4))
  }

  test("the first listing is repeated while it is incomplete, and records are written meanwhile") {
    val rig = new Rig(3)
    rig.stream.listingsWithHole = 2
    rig.write("a", "1")
    rig.flush()
    assert(rig.read.size == 1)
    rig.time.advance(10.seconds)
    assert(rig.stream.listings == 3)
    assert(rig.events.of[ShardMapRefreshed].map(_.shards) == Seq(3))
    assert(rig.events.of[ShardLimitsUnavailable].isEmpty)
  }

  test("only rejected entries are sent again") {
    val rig = new Rig(1)
    var refusals = 2
    rig.stream.refuse = entry => Option.when(entry.partitionKey == "b" && refusals > 0) { refusals -= 1; throttling }
    Seq("a", "b", "c").foreach(key => rig.write(key, key))
    rig.flush()
    assert(rig.stream.stored.map(_._2.partitionKey).toSeq == Seq("a", "c", "b"))
    assert(rig.sink.metrics.requests.throttled == 2L)
    assert(rig.sink.metrics.requests.possibleDuplicates == 0L)
  }

  test("a call without a response is repeated and counted as possible duplicates, and a rejected one is not") {
    val rig = new Rig(1)
    rig.stream.failures += failure(ServiceErrorKind.Network) += failure(ServiceErrorKind.Throttled) +=
      failure(ServiceErrorKind.Internal)
    rig.write("a", "1")
    rig.flush()
    assert(rig.stream.stored.size == 1)
    assert(rig.sink.metrics.requests.possibleDuplicates == 2L)
    assert(rig.events.of[PutFailed].map(_.records) == Vector(1, 1))
    assert(rig.events.of[CallThrottled] == Vector(CallThrottled("s", None, "PutRecords")))
  }

  test("permanent errors fail the sink with the error of the service") {
    Seq(ServiceErrorKind.ResourceNotFound, ServiceErrorKind.AccessDenied, ServiceErrorKind.InvalidArgument).foreach {
      kind =>
        val rig = new Rig(1)
        rig.stream.failures += failure(kind)
        rig.write("a", "1")
        rig.time.advance(2.seconds)
        val error = intercept[FatalSinkException](rig.sink.flush())
        assert(error.getCause.asInstanceOf[ServiceException].kind == kind)
    }
  }

  test("a throttled shard delays only its own records") {
    val rig =
      new Rig(
        2,
        KinesisSinkSettings.of(Options.defaults).copy(requests =
          KinesisSinkSettings.of(Options.defaults).requests.copy(maxTimeInBuffer = 10.millis)
        )
      )
    val (hot, cold) = ("0", (BigInt(1) << 127).toString)
    rig.stream.refuse = entry => Option.when(entry.explicitHashKey.contains(hot))(throttling)
    (1 to 200).foreach(i => rig.write("hot", s"h$i", Some(hot)))
    rig.time.advance(20.millis)
    (1 to 200).foreach(i => rig.write("cold", s"c$i", Some(cold)))
    rig.time.advance(20.millis)
    assert(rig.read.size == 200)
    assert((rig.sink.metrics.shards.pacedShards, rig.sink.metrics.shards.lowestShardRate) == (1, 1000.0))
    rig.stream.refuse = _ => None
    rig.flush()
    assert(rig.read.map(_._3).distinct.size == 400)
  }

  test("all writers of a stream share one listing, which is repeated when a record is stored in another shard") {
    val rig = new Rig(2)
    rig.write("a", "1")
    rig.flush()
    val second = rig.open()
    assert(rig.stream.listings == 1)
    rig.stream.split(ShardId.ofIndex(0))
    rig.stream.split(ShardId.ofIndex(1))
    rig.write("a", "2")
    rig.flush()
    assert(rig.stream.listings == 2)
    rig.write("a", "3")
    rig.flush()
    assert(rig.stream.listings == 2)
    assert(rig.events.of[ShardMapRefreshed].map(event => event.shards -> event.isFirst) ==
      Vector(2 -> true, 4 -> false))
    second.close()
  }

  test("without permission to list shards the sink has no shard limits and cannot aggregate") {
    val rig = new Rig(2)
    rig.stream.listingFailures += failure(ServiceErrorKind.AccessDenied)
    rig.write("a", "1")
    rig.flush()
    assert(rig.read.size == 1)
    assert(rig.events.of[ShardLimitsUnavailable].size == 1)
    val packing = new Rig(2, KinesisSinkSettings.of(Options.defaults).copy(aggregated = true))
    packing.stream.listingFailures ++= Seq.fill(2)(failure(ServiceErrorKind.AccessDenied))
    packing.write("a", "1")
    val error = intercept[FatalSinkException](packing.flush())
    assert(error.getCause.asInstanceOf[ServiceException].kind == ServiceErrorKind.AccessDenied)
  }

  test("the first listing is retried while the sink is open, and not after it is closed") {
    val rig = new Rig(2)
    rig.stream.listingFailures ++=
      Seq.fill(100)(new ServiceException(ServiceErrorKind.Internal, Operation.ListShards, "InternalFailure", ""))
    rig.write("a", "1")
    rig.time.advance(1.minute)
    val asked = 100 - rig.stream.listingFailures.size
    assert(asked > 20)
    rig.sink.close()
    rig.time.advance(10.minutes)
    assert(100 - rig.stream.listingFailures.size == asked)
    assert(rig.events.of[ShardLimitsUnavailable].isEmpty)
  }

  test("the retry options of ListShards limit the first listing") {
    val rig = new Rig(2, KinesisSinkSettings.of(Options.read(Map("retry.listShards.maxRetries" -> "2"))))
    rig.stream.listingFailures ++=
      Seq.fill(10)(new ServiceException(ServiceErrorKind.Internal, Operation.ListShards, "InternalFailure", ""))
    rig.write("a", "1")
    rig.time.advance(1.minute)
    assert(rig.stream.listingFailures.size == 7)
    assert(rig.events.of[ShardLimitsUnavailable].size == 1)
  }

  private val aggregated = KinesisSinkSettings.of(Options.defaults).copy(aggregated = true)

  test("with aggregation all records of an aggregate are in the range of its shard") {
    val rig = new Rig(4, aggregated)
    (1 to 1000).foreach(i => rig.write(s"key-$i", s"value $i"))
    rig.flush()
    assert(rig.read.map(_._3).toSet == (1 to 1000).map(i => s"value $i").toSet)
    assert(rig.stream.stored.size <= 8, rig.stream.stored.size)
    rig.read.foreach { case (shard, key, _) =>
      assert(rig.stream.shardOf(PutEntry(key, None, Array())).id == shard)
    }
    assert(rig.stream.stored.forall(_._2.data.length <= Aggregator.DefaultMaxBytes))
  }

  test("a single record for a shard is not aggregated") {
    val rig = new Rig(4, aggregated)
    rig.write("a", "alone", Some("7"))
    rig.flush()
    assert(
      rig.stream.stored.map { case (_, e) => (e.partitionKey, e.explicitHashKey, new String(e.data)) }.toSeq ==
        Seq(("a", Some("7"), "alone"))
    )
  }

  test(
    "an aggregate in the wrong shard after a reshard is packed and sent again as soon as the map is known"
  ) {
    val rig = new Rig(1, aggregated)
    rig.write("x", "before")
    rig.time.advance(1.second)
    rig.stream.split(ShardId.ofIndex(0))
    (1 to 100).foreach(i => rig.write(s"key-$i", s"value $i"))
    rig.flush()
    val places = rig.read.groupMap(_._3)(found => found._1 -> found._2)
    (1 to 100).foreach { i =>
      val key = s"key-$i"
      val home = rig.stream.shardOf(PutEntry(key, None, Array())).id
      assert(places(s"value $i").contains(home -> key), s"$key is not in $home")
    }
    assert(rig.sink.metrics.requests.possibleDuplicates == 100L)
    assert(rig.stream.listings == 2)
    assert(rig.events.of[RecordsMisplaced].map(_.aggregates).sum > 0)
  }

  test("with ordering by key no aggregate spans shards if records of a key have explicit hash keys") {
    val rig =
      new Rig(2, KinesisSinkSettings.of(Options.defaults).copy(ordering = WriteOrdering.ByKey, aggregated = true))
    val hashes = Seq(0, 1).map(i => HashKeyRange.uniform(2)(i).start.toString)
    (0 until 100).foreach(i => rig.write("same", s"value $i", Some(hashes(i % 7 % 2))))
    rig.flush()
    assert(rig.read.map(_._3) == (0 until 100).map(i => s"value $i"))
    rig.read.foreach { case (shard, _, value) =>
      val i = value.stripPrefix("value ").toInt
      assert(shard == ShardId.ofIndex((i % 7 % 2).toLong), value)
    }
  }

  test("a stream with automatic distribution is listed once more and written without shard limits") {
    val rig = new Rig(4)
    rig.stream.distributesItself = true
    (1 to 100).foreach(i => rig.write(s"key-$i", s"value $i"))
    rig.flush()
    (101 to 200).foreach(i => rig.write(s"key-$i", s"value $i"))
    rig.flush()
    assert(rig.read.map(_._3).toSet == (1 to 200).map(i => s"value $i").toSet)
    assert(rig.stream.listings == 2)
    assert(rig.events.of[DistributionAutomatic].size == 1)
  }

  test("aggregation and ordering by key are rejected for a stream with automatic distribution") {
    Seq(
      "aggregation" -> aggregated,
      "ordering=key" -> KinesisSinkSettings.of(Options.defaults).copy(ordering = WriteOrdering.ByKey)
    ).foreach {
      case (option, settings) =>
        val rig = new Rig(4, settings)
        rig.stream.distributesItself = true
        (1 to 100).foreach(i => rig.write(s"key-$i", s"value $i"))
        val error = intercept[FatalSinkException](rig.flush())
        assert(error.getCause.asInstanceOf[AutoDistributionException].option == option)
    }
  }

  test("a reshard is never interpreted as automatic distribution") {
    Seq(
      KinesisSinkSettings.of(Options.defaults),
      aggregated,
      KinesisSinkSettings.of(Options.defaults).copy(ordering = WriteOrdering.ByKey)
    ).foreach { settings =>
      val rig = new Rig(4, settings)
      (0 to 20).foreach { round =>
        (1 to 50).foreach(i => rig.write(s"key-$i", s"$round $i"))
        rig.flush()
        rig.stream.split(rig.stream.stored.last._1)
      }
      assert(rig.read.map(_._3).distinct.size == 21 * 50)
    }
  }

  Seq(false, true).foreach { packed =>
    test(
      s"ordering by key holds through rejections and reshards (aggregation: $packed)"
    ) {
      (1 to 20).foreach { seed =>
        val random = new scala.util.Random(seed.toLong)
        val requests = KinesisSinkSettings.of(Options.defaults).requests.copy(
          maxBatchSize = 50,
          maxTimeInBuffer = 5.millis,
          maxBufferedEntries = 100000
        )
        val rig =
          new Rig(
            2,
            KinesisSinkSettings.of(Options.defaults).copy(requests, ordering = WriteOrdering.ByKey, aggregated = packed)
          )
        rig.stream.refuse = _ => Option.when(random.nextInt(4) == 0)(throttling)
        (1 to 600).foreach { n =>
          rig.write(s"key-${random.nextInt(20)}", n.toString)
          if (n == 200) rig.stream.split(ShardId.ofIndex(0))
          if (n == 400) rig.stream.split(ShardId.ofIndex(1))
          if (random.nextInt(10) == 0) rig.time.advance(random.nextInt(60).millis)
        }
        rig.time.advance(5.minutes)
        rig.sink.flush()
        val first = rig.read.map { case (_, key, data) => key -> data.toInt }.distinct
        assert(first.map(_._2).sorted == (1 to 600).toSeq, s"seed $seed")
        first.groupMap(_._1)(_._2).foreach { case (key, numbers) =>
          assert(numbers == numbers.sorted, s"seed $seed $key")
        }
      }
    }
  }

  // Faults of other sinks. The tests above on order, hot shards and repeated entries cover further ones.

  test("unlike in Flink's sink, the bytes of a request include the keys") {
    val requests =
      KinesisSinkSettings.of(Options.defaults).requests.copy(maxBatchBytes = 2570, maxTimeInBuffer = 1.hour)
    val rig = new Rig(1, KinesisSinkSettings.of(Options.defaults).copy(requests))
    (1 to 40).foreach(i => rig.write(f"$i%0256d", "x"))
    assert(rig.stream.puts == 4)
    assert(rig.stream.stored.size == 40)
  }

  test("unlike in Flink's sink, throttled records are sent again after a pause") {
    val rig = new Rig(1)
    rig.stream.refuse = _ => Some(throttling)
    rig.write("a", "1")
    rig.time.advance(1.minute)
    // The backoff is from 50 ms to 5 s, of which jitter may subtract half.
    assert(rig.stream.puts >= 10 && rig.stream.puts <= 40, s"${rig.stream.puts} requests in a minute")
    rig.stream.refuse = _ => None
    rig.flush()
    assert(rig.stream.stored.size == 1)
  }

  test("unlike in Flink's sink, a record that is sent again counts once") {
    val rig = new Rig(1)
    var refusals = 5
    rig.stream.refuse = _ => Option.when(refusals > 0) { refusals -= 1; throttling }
    (1 to 3).foreach(i => rig.write(s"key-$i", "x"))
    rig.flush()
    assert(rig.sink.metrics.requests.entriesOut == 3L)
    assert(rig.sink.metrics.requests.entriesSent == 8L)
  }

  test("unlike in Flink's sink, a permanently rejected entry is not sent again") {
    val rig = new Rig(1)
    rig.stream.refuse = _ => Some(PutResult.Rejected("KMSAccessDeniedException", "no key for you"))
    rig.write("a", "1")
    rig.time.advance(1.minute)
    intercept[FatalSinkException](rig.sink.flush())
    assert(rig.stream.puts == 1)
  }

  test("unlike in the KPL, a record past its delivery timeout fails the sink and is not dropped") {
    val rig = new Rig(
      1,
      KinesisSinkSettings.of(
        Options.defaults
      ).copy(KinesisSinkSettings.of(Options.defaults).requests.copy(deliveryTimeout = 1.minute))
    )
    rig.stream.refuse = _ => Some(throttling)
    rig.write("a", "1")
    rig.time.advance(2.minutes)
    intercept[DeliveryFailedException](rig.sink.flush())
    intercept[DeliveryFailedException](rig.write("b", "2"))
  }
}
