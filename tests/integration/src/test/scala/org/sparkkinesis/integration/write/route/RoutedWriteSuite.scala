package org.sparkkinesis.integration.write.route

import scala.collection.mutable
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions._

import org.sparkkinesis.sink.route.{RecordRouter, RouterRecord, RouterStream}

class RoutedWriteSuite extends RoutedFixture {

  test("20 switches between two regions under load lose and double nothing, and old streams get nothing later") {
    create("switch", here)
    create("switch", there)
    val places = Seq(here, there)
    publish(1, active(arn("switch", here)))
    val numbers = new Numbers()
    val query = numbers.start()
    numbers.add(1)
    await(query, "first row")(stored("switch").nonEmpty)
    // The times at which each region was switched off and on, in epoch milliseconds.
    val off = mutable.ArrayBuffer.empty[(String, Long)]
    val on = mutable.ArrayBuffer.empty[(String, Long)]
    (1 to 20).foreach { n =>
      val (from, to) = (places((n + 1) % 2), places(n % 2))
      // The query may use the new document before `publish` returns.
      val at = System.currentTimeMillis()
      publish(n + 1L, active(arn("switch", to)), s""""arn":"${arn("switch", from)}","state":"draining"""")
      off += from -> at
      on += to -> at
      feed(numbers, 5000, 4.seconds)
      await(query, s"switch $n")(stored("switch", to).exists(_.arrivalMillis >= on.last._2))
    }
    query.processAllAvailable()
    query.stop()
    val all = places.map(region => region -> stored("switch", region)).toMap
    assert(texts(all.values.flatten.toSeq).sorted == numbers.expected.sorted)
    val late = off.flatMap { case (region, at) =>
      val until = on.collectFirst { case (`region`, back) if back > at => back }.getOrElse(Long.MaxValue)
      all(region).iterator.map(_.arrivalMillis).filter(time => time > at && time < until).map(_ - at)
        .maxOption
    }
    info(s"${numbers.written} records; the latest record in a stream that was switched off: ${late.max} ms after it")
    // The micro-batch that wrote to the new stream first began after the last one that wrote to the old stream.
    off.zip(on).zipWithIndex.foreach { case (((from, _), (to, at)), n) =>
      val begun = all(to).iterator.map(_.arrivalMillis).filter(_ >= at).min
      val next = on.lift(n + 1).fold(Long.MaxValue)(_._2)
      assert(!all(from).exists(record => record.arrivalMillis > begun && record.arrivalMillis < next), s"switch $n")
    }
  }

  test("with hash each key is in one stream per version, and an added stream takes keys from the others only") {
    Seq("h1", "h2", "h3").foreach(create(_))
    publish(1, active(arn("h1")), active(arn("h2")))
    val rows = spark.range(3000).select(concat(lit("k"), col("id") % 500).as("partitionKey"), lit("x").as("data"))
    def write(): Map[String, Set[String]] = {
      val before = Seq("h1", "h2", "h3").map(name => name -> stored(name).size).toMap
      rows.write.format(format).mode("append").options(logical ++ Map("router" -> "hash")).save()
      before.map { case (name, skipped) =>
        val records = kinesis.admin.shards(name).flatMap(shard => kinesis.admin.records(name, shard.id.value))
        name -> records.sortBy(_.arrivalMillis).drop(skipped).map(_.partitionKey).toSet
      }
    }
    val first = write()
    assert(first("h1").intersect(first("h2")).isEmpty)
    assert((first("h1") ++ first("h2")).size == 500 && first("h3").isEmpty)
    publish(2, active(arn("h1")), active(arn("h2")), active(arn("h3")))
    write()
    val third = stored("h3").map(_.partitionKey).toSet
    assert(third.size > 100 && third.size < 240, third.size)
    val keptByFirst = stored("h1").groupBy(_.partitionKey).collect { case (key, all) if all.size == 12 => key }.toSet
    assert(keptByFirst == first("h1") -- third)
  }

  test("sticky round robin needs hardly more requests than one stream, and spreads records evenly") {
    Seq("plain", "r1", "r2", "r3", "r4").foreach(create(_, shards = 4))
    val rows = spark.range(0, 100000, 1, 2).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    // Only full requests are sent, at any speed of the machine.
    val full = "maxTimeInBuffer" -> "1h"
    rows.write.format(format).mode("append").options(target ++ Map("streamName" -> "plain", full)).save()
    publish(1, Seq("r1", "r2", "r3", "r4").map(name => active(arn(name))): _*)
    rows.write.format(format).mode("append").options(logical + full).save()
    val names = Seq("r1", "r2", "r3", "r4")
    val requests = names.map(name => kinesis.calls.count("PutRecords", stream = name)).sum
    val single = kinesis.calls.count("PutRecords", stream = "plain")
    val counts = names.map(stored(_).size)
    info(s"$requests requests for four streams, $single for one; records ${counts.mkString(", ")}")
    assert(counts.sum == 100000)
    assert(requests <= 1.1 * single)
    assert(counts.max - counts.min <= 2000)
  }

  test("a column names the logical stream of each row, and a row with an unknown one is invalid") {
    Seq("a1", "b1", "letters").foreach(create(_))
    kinesis.admin.setMetadata(
      s"""{"version":1,"streams":{"a":[{"arn":"${arn("a1")}"}],"b":[{"arn":"${arn("b1")}"}]}}"""
    )
    val session = spark
    import session.implicits._
    Seq(("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), (null, "5")).toDF("streamId", "data")
      .withColumn("partitionKey", col("data")).write.format(format).mode("append")
      .options(logical - "streamId" ++ Map("onInvalidRecord" -> "deadLetter", "deadLetterStream" -> arn("letters")))
      .save()
    assert(texts(stored("a1")).sorted == Seq("1", "3"))
    assert(texts(stored("b1")) == Seq("2"))
    assert(texts(stored("letters")).size == 2)
  }

  test("a router of the user chooses the stream of each row, and several logical streams are asked for by their ids") {
    Seq("small", "large", "more").foreach(create(_))
    kinesis.admin.setMetadata(
      s"""{"version":1,"streams":{"orders":[{"arn":"${arn("small")}"},{"arn":"${arn("large")}","priority":7}],""" +
        s""""returns":[{"arn":"${arn("more")}"}],"others":[{"arn":"${arn("unknown")}"}]}}"""
    )
    val session = spark
    import session.implicits._
    Seq(("orders", "x"), ("orders", "x" * 500), ("returns", "y"), ("orders", "x")).toDF("streamId", "data")
      .withColumn("partitionKey", lit("k")).write.format(format).mode("append")
      .options(logical ++ Map("streamId" -> "orders,returns", "router" -> s"class:${classOf[SizeRouter].getName}"))
      .save()
    assert(stored("small").size == 2 && stored("large").size == 1 && stored("more").size == 1)
    val (condition, _) = conditionOf(
      Seq("x").toDF("data").withColumn("partitionKey", col("data")).write.format(format).mode("append")
        .options(logical + ("streamId" -> "orders,returns")).save()
    )
    assert(condition == "KINESIS_OPTION_CONFLICT")
  }

  test("a stream of another account is written with the role that the document names, if the options allow it") {
    create("theirs", there, other)
    publish(1, active(arn("theirs", there, other), s""","role":"$role","externalId":"planted-external-id""""))
    val allowed = Map(
      "metadataAllowedAccounts" -> other,
      "metadataAllowedRoles" -> s"arn:aws:iam::$other:role/*",
      "stsEndpoint" -> kinesis.endpoint
    )
    spark.range(10).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
      .write.format(format).mode("append").options(logical ++ allowed).save()
    assert(stored("theirs", there, other).size == 10)
  }

  test("options for one stream apply to the streams that the column names") {
    create("mine", here)
    create("far", there, other)
    val session = spark
    import session.implicits._
    Seq(("mine", "1"), ("far", "2")).toDF("stream", "data").withColumn("partitionKey", col("data"))
      .write.format(format).mode("append").options(target ++ Map(
        "region.far" -> there,
        "roleArn.far" -> role,
        "roleExternalId.far" -> "planted-external-id",
        "stsEndpoint" -> kinesis.endpoint
      )).save()
    assert(texts(stored("mine")) == Seq("1"))
    assert(texts(stored("far", there, other)) == Seq("2"))
  }

  test("the progress of a query has the version and the age of its metadata") {
    create("shown")
    create("spare")
    publish(7, active(arn("shown")), s""""arn":"${arn("spare")}","state":"standby"""")
    val numbers = new Numbers()
    val query = numbers.start()
    numbers.add(10)
    query.processAllAvailable()
    val metrics = query.recentProgress.filter(_.numInputRows > 0).last.sink.metrics.asScala
    query.stop()
    assert(Seq("metadataVersion", "streamsActive", "streamsStandby", "reroutedRecords").map(metrics.get(_)) ==
      Seq("7", "1", "1", "0").map(Some(_)))
    assert(metrics("metadataAgeMs").toLong < 60000 && metrics("metadataFetches").toLong >= 1)
  }

  test("options that do not go together are refused before anything is written") {
    publish(1, active(arn("mine")))
    val rows = spark.range(1).select(lit("k").as("partitionKey"), lit("x").as("data"))
    def refusal(options: Map[String, String]): String =
      conditionOf(rows.write.format(format).mode("append").options(options).save())._1
    assert(refusal(logical + ("streamName" -> "mine")) == "KINESIS_OPTION_CONFLICT")
    assert(refusal(logical + ("streamId" -> "a,b")) == "KINESIS_OPTION_CONFLICT")
    assert(refusal(logical - "streamId" + ("streamIdPattern" -> ".*")) == "KINESIS_OPTION_WITHOUT_EFFECT")
    assert(refusal(logical - "metadataService") == "KINESIS_OPTION_MISSING")
    assert(refusal(logical - "streamId") == "KINESIS_OPTION_MISSING")
    assert(refusal(logical + ("router" -> "class:no.such.Class")) == "KINESIS_OPTION_INVALID")
  }
}

/** Writes large records to the stream with the highest priority, and others to the one with the lowest. */
class SizeRouter extends RecordRouter {
  private var byPriority = Seq.empty[RouterStream]
  override def streamsChanged(streams: java.util.List[RouterStream]): Unit =
    byPriority = streams.asScala.toSeq.sortBy(_.priority)
  override def choose(record: RouterRecord): String =
    (if (record.size > 400) byPriority.last else byPriority.head).arn
}
