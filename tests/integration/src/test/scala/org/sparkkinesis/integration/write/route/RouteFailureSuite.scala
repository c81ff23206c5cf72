package org.sparkkinesis.integration.write.route

import java.net.{InetAddress, ServerSocket}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule, FaultTarget}
import org.sparkkinesis.event.RoutesNotCached
import org.sparkkinesis.integration.log.RecordedLog
import org.sparkkinesis.kit.stream.MemoryInput

class RouteFailureSuite extends RoutedFixture {
  private val silence = FaultRule(FaultEffect.Silence, region = there)
  private val down = FaultRule(FaultEffect.Error(503, "ServiceUnavailable", "down"), FaultTarget.MetadataPage)
  private lazy val rows = spark.range(100).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))

  override def afterEach(): Unit = {
    super.afterEach()
    kinesis.faults.clear()
  }

  /** Runs `body` with a folder for the checkpoints of queries that name none. */
  private def withCheckpointRoot(folder: String)(body: => Unit): Unit = {
    val conf = "spark.sql.streaming.checkpointLocation"
    spark.conf.set(conf, temporary.resolve(folder).toString)
    try body
    finally spark.conf.unset(conf)
  }

  test("when a region dies, its records go to the other region, and it is used again when it is back") {
    create("dies", here)
    create("dies", there)
    publish(1, active(arn("dies", here)), active(arn("dies", there)))
    val numbers = new Numbers("requestTimeout" -> "1s")
    val query = numbers.start()
    feed(numbers, 2000, 3.seconds)
    await(query, "both regions are written") {
      numbers.add(10)
      stored("dies", here).nonEmpty && stored("dies", there).nonEmpty
    }
    kinesis.faults.add(silence)
    val died = System.currentTimeMillis()
    feed(numbers, 2000, 8.seconds)
    def sum(metric: String): Long =
      query.recentProgress.filter(_.numInputRows > 0).map(_.sink.metrics.get(metric).toLong).sum
    await(query, "records that are written to the other region") {
      numbers.add(10)
      sum("reroutedRecords") > 0
    }
    val until = System.currentTimeMillis()
    kinesis.faults.clear()
    feed(numbers, 2000, 6.seconds)
    await(query, "the region that is back") {
      numbers.add(10)
      stored("dies", there).exists(_.arrivalMillis > until)
    }
    query.processAllAvailable()
    query.stop()
    val (near, far) = (stored("dies", here), stored("dies", there))
    val counts = texts(near ++ far).groupBy(identity).view.mapValues(_.size).toMap
    val (rerouted, repeated) = (sum("reroutedRecords"), sum("possibleDuplicates"))
    val back = far.map(_.arrivalMillis).filter(_ > until)
    assert(back.nonEmpty, "the region is used again")
    val again = back.min - until
    val gap = near.map(_.arrivalMillis).filter(time => time > died - 500 && time < until).sorted
    val pause = gap.zip(gap.drop(1)).map { case (one, next) => next - one }.maxOption.getOrElse(0L)
    info(s"${numbers.written} records, $rerouted rerouted, longest pause $pause ms, used again after $again ms")
    assert(counts.keySet == numbers.expected.toSet, "no record is lost")
    assert(rerouted > 0)
    // On a slow machine, requests to the other region can be without an answer within the timeout too.
    assert(counts.values.count(_ > 1) <= rerouted + repeated, "only records that were sent again may be stored twice")
  }

  test("a stream that was deleted gives its records to the other one, and the task does not fail") {
    create("stays")
    create("goes")
    publish(1, active(arn("stays")), active(arn("goes")))
    val numbers = new Numbers()
    val query = numbers.start()
    // Requests go to one stream for a while, so a fixed number of records may not reach both.
    feed(numbers, 1000, 2.seconds)
    await(query, "both streams are written") {
      numbers.add(10)
      stored("stays").nonEmpty && stored("goes").nonEmpty
    }
    query.processAllAvailable()
    val before = texts(stored("goes"))
    kinesis.admin.deleteStream("goes")
    feed(numbers, 1000, 2.seconds)
    query.processAllAvailable()
    query.stop()
    assert((before ++ texts(stored("stays"))).toSet == numbers.expected.toSet)
  }

  test("a query restarts from its cache while the service is down") {
    create("cached")
    publish(3, active(arn("cached")))
    withCheckpointRoot("named") {
      Seq(Seq.empty, Seq("queryName" -> "from_conf")).foreach { more =>
        val before = stored("cached").size
        val numbers = new Numbers(more: _*)
        val first = numbers.start()
        numbers.add(10)
        first.processAllAvailable()
        first.stop()
        val rule = kinesis.faults.add(down)
        val begin = System.nanoTime()
        val second = numbers.start()
        numbers.add(10)
        await(second, "rows of the second run")(stored("cached").size == before + 20)
        info(s"$more: written ${(System.nanoTime() - begin) / 1000000} ms after the start")
        second.stop()
        kinesis.faults.remove(rule)
      }
    }
  }

  test("a query whose checkpoint is not known to the sink warns that its routes are not cached") {
    create("uncached")
    publish(4, active(arn("uncached")))
    withCheckpointRoot("nameless") {
      Using.resource(new RecordedLog()) { log =>
        val session = spark
        import session.implicits._
        val input = MemoryInput[String](session)
        val query = input.toDF().select(col("value").as("partitionKey"), col("value").as("data"))
          .writeStream.format(format).options(logical).start()
        input.addData(Seq("1"))
        query.processAllAvailable()
        query.stop()
        assert(texts(stored("uncached")) == Seq("1"))
        assert(log.visible.count(_.message == RoutesNotCached().message) == 1, log.visible)
      }
    }
  }

  test("a batch write starts from metadataCache, and without a cache it fails with its condition") {
    create("batch")
    publish(1, active(arn("batch")))
    val cached = logical + ("metadataCache" -> temporary.resolve("cache").toString)
    rows.write.format(format).mode("append").options(cached).save()
    kinesis.faults.add(down)
    rows.write.format(format).mode("append").options(cached).save()
    assert(stored("batch").size == 200)
    val (condition, message) = conditionOf(
      rows.write.format(format).mode("append").options(logical + ("metadataStartTimeout" -> "1s")).save()
    )
    assert(condition == "KINESIS_METADATA_UNAVAILABLE", message)
  }

  test("empty, truncated and older documents and redirections change nothing") {
    create("firm")
    create("wrong")
    publish(1, active(arn("wrong")))
    publish(2, active(arn("firm")))
    val numbers = new Numbers()
    val query = numbers.start()
    numbers.add(10)
    query.processAllAvailable()
    Seq(
      FaultEffect.EmptyDocument,
      FaultEffect.TruncatedDocument,
      FaultEffect.OlderDocument,
      FaultEffect.Redirect(s"http://localhost:${kinesis.port}/metadata/streams")
    ).foreach { effect =>
      val before = kinesis.calls.count("GetMetadata")
      kinesis.faults.add(FaultRule(effect, FaultTarget.MetadataPage))
      await(query, s"two answers with $effect")(kinesis.calls.count("GetMetadata") >= before + 2)
      numbers.add(10)
      query.processAllAvailable()
      kinesis.faults.clear()
    }
    query.stop()
    assert(texts(stored("firm")).sorted == numbers.expected.sorted)
    assert(stored("wrong").isEmpty)
  }

  test("no call reaches a stream that the options do not allow, and no log line has a secret") {
    val elsewhere = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))
    val connections = new AtomicInteger
    val listener = new Thread(() =>
      try while (true) {
          elsewhere.accept().close()
          connections.incrementAndGet()
        }
      catch { case _: java.net.SocketException => () }
    )
    listener.setDaemon(true)
    listener.start()
    create("right")
    create("right", there)
    create("foreign", here, other)
    create("foreign")
    publish(
      1,
      active(arn("right")),
      active(arn("right", there)),
      active(arn("foreign", here, other)),
      active(arn("role"), s""","role":"$role","externalId":"planted-external-id""""),
      active(arn("address"), s""","endpoint":"http://127.0.0.1:${elsewhere.getLocalPort}"""")
    )
    kinesis.calls.reset()
    val log = new RecordedLog
    try {
      rows.write.format(format).mode("append").options(
        logical ++ Map("metadataAllowedRegions" -> here, "metadataAllowedAccounts" -> own)
      ).save()
      val (condition, _) = conditionOf(
        rows.write.format(format).mode("append").options(
          logical ++ Map("metadataAllowedRegions" -> here, "metadataAllowedAccounts" -> own, "onForbidden" -> "fail")
        ).save()
      )
      assert(condition == "KINESIS_METADATA_FORBIDDEN")
    } finally {
      log.close()
      elsewhere.close()
    }
    assert(stored("right").size == 100)
    assert(kinesis.calls.count(account = other) == 0)
    assert(kinesis.calls.count(region = there) == 0)
    assert(connections.get == 0)
    assert(!log.lines.exists(line => s"${line.text} ${line.context}".contains("planted-")))
  }

  test("without allowed accounts, only streams of the own account are used") {
    create("owned")
    create("owned", here, other)
    publish(1, active(arn("owned")), active(arn("owned", here, other)))
    kinesis.calls.reset()
    rows.write.format(format).mode("append").options(logical).save()
    assert(stored("owned").size == 100)
    assert(kinesis.calls.count(account = other) == 0)
  }
}
