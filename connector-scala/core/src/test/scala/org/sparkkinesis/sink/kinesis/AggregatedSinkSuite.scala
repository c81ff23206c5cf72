package org.sparkkinesis.sink.kinesis

import java.util.concurrent.CompletableFuture

import scala.concurrent.duration._

import org.sparkkinesis.aggregate.Aggregator
import org.sparkkinesis.config.Options
import org.sparkkinesis.config.value.WriteOrdering
import org.sparkkinesis.event._
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.service.{PutEntry, ServiceErrorKind, ServiceException}
import org.sparkkinesis.sink.FatalSinkException
import org.sparkkinesis.sink.kinesis.put.SinkRecord

class AggregatedSinkSuite extends KinesisSinkTests {
  private val aggregated = KinesisSinkSettings.of(Options.defaults).copy(aggregated = true)

  test("without permission to list shards the sink has no shard limits and cannot aggregate") {
    val rig = new Rig(2)
    rig.stream.listingFailures += failure(ServiceErrorKind.AccessDenied)
    rig.write("a", "1")
    rig.flush()
    assert(rig.read.size == 1)
    assert(rig.events.of[ShardLimitsUnavailable].size == 1)
    // The listing that a sink begins when it opens is refused before the first request, which must not be sent plain.
    Seq(0.seconds, 10.millis, 1.second).foreach { between =>
      val packing = new Rig(2, aggregated)
      packing.stream.listingFailures ++= Seq.fill(2)(failure(ServiceErrorKind.AccessDenied))
      packing.sink
      packing.time.advance(between)
      packing.write("a", "1")
      val error = intercept[FatalSinkException](packing.sink.flush())
      assert(error.getCause.asInstanceOf[ServiceException].kind == ServiceErrorKind.AccessDenied)
      assert(packing.stream.puts == 0)
    }
  }

  test("a sink aggregates although another sink of the stream was not allowed to list the shards") {
    val rig = new Rig(2, aggregated)
    rig.stream.listingFailures += failure(ServiceErrorKind.AccessDenied)
    rig.sink
    Seq("1", "2").foreach(rig.write("a", _))
    rig.flush()
    assert(rig.stream.stored.size == 1)
    assert(rig.read.size == 2)
  }

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

  private val byKey = KinesisSinkSettings.of(Options.defaults).copy(ordering = WriteOrdering.ByKey)

  private def write500(sink: KinesisStreamSink): Unit = (1 to 500).foreach(i =>
    sink.write(new SinkRecord(s"key-$i", None, s"value $i".getBytes("UTF-8")))
  )

  private def isRefused(written: => Unit): Boolean =
    intercept[FatalSinkException](written).getCause.isInstanceOf[AutoDistributionException]

  test("ordering by key is rejected for such a stream although the first response is faster than the first listing") {
    val rig = new Rig(4, byKey)
    rig.stream.distributesItself = true
    rig.stream.listingAnswers = new CompletableFuture[Unit]
    write500(rig.sink)
    rig.time.advance(30.seconds)
    assert(rig.stream.stored.size == 500)
    rig.stream.listingAnswers.complete(())
    assert(isRefused(rig.sink.flush()))
  }

  test("ordering by key is rejected for such a stream if its first listing begins after the first request") {
    val rig = new Rig(4, byKey)
    rig.stream.distributesItself = true
    rig.stream.listingFailures += failure(ServiceErrorKind.Throttled)
    rig.stream.putAnswers = new CompletableFuture[Unit]
    write500(rig.sink)
    rig.time.advance(1.second)
    assert(rig.stream.listings == 1)
    rig.stream.putAnswers.complete(())
    assert(isRefused(rig.sink.flush()))
  }

  test("aggregation and ordering by key are rejected again when Spark runs the task again") {
    Seq(aggregated, byKey).foreach { settings =>
      val rig = new Rig(4, settings)
      rig.stream.distributesItself = true
      (1 to 3).foreach { _ =>
        val sink = rig.open()
        assert(isRefused {
          write500(sink)
          rig.time.advance(1.milli)
          sink.flush()
        })
        sink.close()
      }
    }
  }

  test("a listing that has failed is not repeated for each response that it should explain") {
    val rig = new Rig(4, byKey)
    rig.sink.flush()
    rig.time.advance(1.second)
    rig.stream.distributesItself = true
    rig.stream.listingFailures ++= Seq.fill(100)(failure(ServiceErrorKind.Throttled))
    (1 to 20).foreach { _ =>
      write500(rig.sink)
      rig.sink.flush()
    }
    assert(100 - rig.stream.listingFailures.size <= 5)
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
}
