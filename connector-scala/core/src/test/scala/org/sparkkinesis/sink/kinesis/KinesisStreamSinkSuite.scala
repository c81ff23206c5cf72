package org.sparkkinesis.sink.kinesis

import scala.concurrent.duration._

import org.sparkkinesis.config.Options
import org.sparkkinesis.event._
import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.service.{Operation, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.limit.PacedLane
import org.sparkkinesis.sink.{DeliveryFailedException, FatalSinkException}

class KinesisStreamSinkSuite extends KinesisSinkTests {
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
    assert(rig.events.of[CallThrottled] == Vector(CallThrottled("s", None, Operation.PutRecords)))
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
    val limited = rig.sink.metrics.shards
    assert((limited.pacedShards, limited.lowestShardRate) == (1, 1000L))
    assert(limited.slowestShards == Seq(PacedRate(StreamShard("s", ShardId.ofIndex(0)), 1000)))
    rig.stream.refuse = _ => None
    rig.flush()
    assert(rig.read.map(_._3).distinct.size == 400)
  }

  test("events report that a shard is throttled, that its rate is reduced further, and that its limit is removed") {
    val rig = new Rig(1)
    rig.stream.refuse = _ => Some(throttling)
    rig.write("a", "1")
    rig.time.advance(1.minute)
    rig.stream.refuse = _ => None
    rig.flush()
    rig.time.advance(PacedLane.FreeAfter)
    rig.write("a", "2")
    rig.flush()
    val (arn, shard) = ("arn:aws:kinesis:us-east-1:000000000000:stream/s", ShardId.ofIndex(0))
    assert(rig.events.of[ShardPaced] == Vector(ShardPaced(arn, shard)))
    val cuts = rig.events.of[ShardRateCut]
    assert(cuts.nonEmpty && cuts.forall(cut => cut.cut == shard && cut.scale < 1), cuts)
    assert(rig.events.of[ShardUnpaced] == Vector(ShardUnpaced(arn, shard)))
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

  test("the retry options of PutRecords limit the retries of a failed record, and set the pauses between them") {
    val options = Map("maxRetries" -> "3", "backoff.base" -> "4s", "backoff.exponent" -> "3", "backoff.max" -> "20s")
      .map { case (name, value) => s"retry.putRecords.$name" -> value }
    val rig = new Rig(1, KinesisSinkSettings.of(Options.read(options)))
    var sentAt = Vector.empty[Long]
    rig.stream.refuse = _ => {
      sentAt :+= rig.time.nanoTime
      Some(PutResult.Rejected("InternalFailure", "try again"))
    }
    rig.write("a", "1")
    rig.time.advance(10.minutes)
    intercept[DeliveryFailedException](rig.sink.flush())
    val pauses = sentAt.zip(sentAt.drop(1)).map { case (before, after) => (after - before).nanos }
    assert(pauses.size == 3)
    // The pause is in the upper half of its bound.
    pauses.zip(Seq(4.seconds, 12.seconds, 20.seconds)).foreach { case (pause, bound) =>
      assert(pause >= bound / 2 && pause <= bound + 1.second, pauses)
    }
  }

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
    rig.stream.refuse = _ => Some(PutResult.Rejected("KMSNotFoundException", "no key for you"))
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
