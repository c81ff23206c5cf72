package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.aggregate.{Aggregator, Deaggregator}
import org.sparkkinesis.concurrent.VirtualScheduler
import org.sparkkinesis.config.Options
import org.sparkkinesis.event._
import org.sparkkinesis.model.{HashKeyRange, ShardId, StreamRef}
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
    private val process = new SinkProcess(time, new SharedStreamLimits(events))
    var created = 1L
    def open(): KinesisStreamSink = {
      val identity = StreamIdentity("arn:aws:kinesis:us-east-1:000000000000:stream/s", created, "")
      val checked = CheckedStream(StreamRef.ByName("s"), identity, 1 << 20)
      KinesisStreamSink.open(stream, checked, settings, settings.newBounds, process, events)
    }
    lazy val sink: KinesisStreamSink = open()

    def write(key: String, data: String, hash: Option[String] = None): Unit =
      sink.write(new SinkRecord(key, hash, data.getBytes("UTF-8")))

    /** The user records that are stored, shard by shard, as a reader would see them. */
    def read: Seq[(ShardId, String, String)] = stream.stored.toSeq.flatMap { case (shard, entry) =>
      Option(Deaggregator.open(entry.data)) match {
        case Some(users) =>
          (0 until users.count).map(i => (shard, users.partitionKey(i), new String(users.data(i), "UTF-8")))
        case None => Seq((shard, entry.partitionKey, new String(entry.data, "UTF-8")))
      }
    }

    def flush(): Unit = {
      // Rests pass on virtual time, so whatever is due is run before the flush waits for it.
      time.advance(30.seconds)
      sink.flush()
    }
  }

  private def failure(kind: ServiceErrorKind) =
    new ServiceException(kind, Operation.PutRecords, s"${kind}Exception", "said the service")

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
    assert(rig.sink.metrics.recordsStored == 2L)
  }

  test("a listing that lacks a shard when the stream is resharded is asked for again, and then its lanes are known") {
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

  test("the first listing is made again while it lacks a shard, and records are written meanwhile") {
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

  test("only the entries that were refused go again") {
    val rig = new Rig(1)
    var refusals = 2
    rig.stream.refuse = entry => Option.when(entry.partitionKey == "b" && refusals > 0) { refusals -= 1; throttling }
    Seq("a", "b", "c").foreach(key => rig.write(key, key))
    rig.flush()
    assert(rig.stream.stored.map(_._2.partitionKey).toSeq == Seq("a", "c", "b"))
    assert(rig.sink.metrics.requests.throttled == 2L)
    assert(rig.sink.metrics.requests.possibleDuplicates == 0L)
  }

  test("a call without an answer is repeated and counted as possible duplicates; a refused one is not") {
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

  test("errors that no retry can mend end the sink with the service's own error") {
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
    rig.stream.refuse = _ => None
    rig.flush()
    assert(rig.read.map(_._3).distinct.size == 400)
  }

  test("the shard map is listed once for all writers of a stream, and again when a record lands elsewhere") {
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

  test("a caller who may not list shards writes without limits for each shard, and cannot aggregate") {
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

  private val aggregated = KinesisSinkSettings.of(Options.defaults).copy(aggregated = true)

  test("with aggregation each shard's records travel in aggregates that lie wholly in its range") {
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

  test("a record that is alone for its shard goes as it is, without a container") {
    val rig = new Rig(4, aggregated)
    rig.write("a", "alone", Some("7"))
    rig.flush()
    assert(
      rig.stream.stored.map { case (_, e) => (e.partitionKey, e.explicitHashKey, new String(e.data)) }.toSeq ==
        Seq(("a", Some("7"), "alone"))
    )
  }

  test(
    "an aggregate that a reshard sent to the wrong shard is packed anew and sent again, right after the map is known"
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

  test("with ordering by key no aggregate crosses shards where records of one key have hash keys of their own") {
    val rig = new Rig(2, KinesisSinkSettings.of(Options.defaults).copy(ordered = true, aggregated = true))
    val hashes = Seq(0, 1).map(i => HashKeyRange.uniform(2)(i).start.toString)
    (0 until 100).foreach(i => rig.write("same", s"value $i", Some(hashes(i % 7 % 2))))
    rig.flush()
    assert(rig.read.map(_._3) == (0 until 100).map(i => s"value $i"))
    rig.read.foreach { case (shard, _, value) =>
      val i = value.stripPrefix("value ").toInt
      assert(shard == ShardId.ofIndex((i % 7 % 2).toLong), value)
    }
  }

  test("a stream that distributes records itself is listed once more, and written without limits for each shard") {
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

  test("aggregation and order by key are refused where the stream distributes records itself") {
    Seq(
      "aggregation" -> aggregated,
      "ordering=key" -> KinesisSinkSettings.of(Options.defaults).copy(ordered = true)
    ).foreach {
      case (option, settings) =>
        val rig = new Rig(4, settings)
        rig.stream.distributesItself = true
        (1 to 100).foreach(i => rig.write(s"key-$i", s"value $i"))
        val error = intercept[FatalSinkException](rig.flush())
        assert(error.getCause.asInstanceOf[AutoDistributionException].option == option)
    }
  }

  test("a reshard is never taken for a stream that distributes records itself") {
    Seq(
      KinesisSinkSettings.of(Options.defaults),
      aggregated,
      KinesisSinkSettings.of(Options.defaults).copy(ordered = true)
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
      s"with ordering by key no record arrives before an earlier one of its key, through refusals and reshards (aggregation: $packed)"
    ) {
      (1 to 20).foreach { seed =>
        val random = new scala.util.Random(seed.toLong)
        val requests = KinesisSinkSettings.of(Options.defaults).requests.copy(
          maxBatchSize = 50,
          maxTimeInBuffer = 5.millis,
          maxBufferedEntries = 100000
        )
        val rig =
          new Rig(2, KinesisSinkSettings.of(Options.defaults).copy(requests, ordered = true, aggregated = packed))
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

  // What sinks of others do wrong; their further faults are the tests above on order, hot shards and repeated entries.

  test("as in Flink's sink no more: a request's bytes leave out the keys") {
    val requests =
      KinesisSinkSettings.of(Options.defaults).requests.copy(maxBatchBytes = 2570, maxTimeInBuffer = 1.hour)
    val rig = new Rig(1, KinesisSinkSettings.of(Options.defaults).copy(requests))
    (1 to 40).foreach(i => rig.write(f"$i%0256d", "x"))
    assert(rig.stream.puts == 4)
    assert(rig.stream.stored.size == 40)
  }

  test("as in Flink's sink no more: throttled records are sent again without a pause") {
    val rig = new Rig(1)
    rig.stream.refuse = _ => Some(throttling)
    rig.write("a", "1")
    rig.time.advance(1.minute)
    // 50 ms that double up to 5 s, of which jitter may take half.
    assert(rig.stream.puts >= 10 && rig.stream.puts <= 40, s"${rig.stream.puts} requests in a minute")
    rig.stream.refuse = _ => None
    rig.flush()
    assert(rig.stream.stored.size == 1)
  }

  test("as in Flink's sink no more: what is sent again counts as sent out again") {
    val rig = new Rig(1)
    var refusals = 5
    rig.stream.refuse = _ => Option.when(refusals > 0) { refusals -= 1; throttling }
    (1 to 3).foreach(i => rig.write(s"key-$i", "x"))
    rig.flush()
    assert(rig.sink.metrics.requests.entriesOut == 3L)
    assert(rig.sink.metrics.requests.entriesSent == 8L)
  }

  test("as in Flink's sink no more: an entry that the service will never take is sent for ever") {
    val rig = new Rig(1)
    rig.stream.refuse = _ => Some(PutResult.Rejected("KMSAccessDeniedException", "no key for you"))
    rig.write("a", "1")
    rig.time.advance(1.minute)
    intercept[FatalSinkException](rig.sink.flush())
    assert(rig.stream.puts == 1)
  }

  test("as in the KPL no more: a record whose time is over is dropped, and the rest goes on") {
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
