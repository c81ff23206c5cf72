package org.sparkkinesis.integration.write

import org.apache.spark.sparkkinesis.MetricsSource
import org.apache.spark.sql.functions._

import org.sparkkinesis.spark.sink.invalid.DeadLetterTable
import org.sparkkinesis.spark.write.KinesisSink

class BatchWriteSuite extends SinkFixture {
  private def rows(count: Int) =
    spark.range(count.toLong).select(
      col("id").cast("string").as("partitionKey"),
      concat(lit("value "), col("id")).as("data")
    )

  test("every row is written once, with several shards and tasks") {
    kinesis.admin.createStream("all", 4)
    writer(rows(20000), "streamName" -> "all").save()
    assert(read("all").toSet == (0 until 20000).map(i => i.toString -> s"value $i").toSet)
    assert(kinesis.admin.recordCount("all") == 20000L)
  }

  test("with aggregation every row is written once, in far fewer records") {
    kinesis.admin.createStream("packed", 4)
    writer(rows(20000), "streamName" -> "packed", "aggregation" -> "true", "maxTimeInBuffer" -> "1h").save()
    assert(read("packed").size == 20000)
    assert(read("packed").toSet == (0 until 20000).map(i => i.toString -> s"value $i").toSet)
    assert(kinesis.admin.recordCount("packed") < 200, kinesis.admin.recordCount("packed"))
  }

  test("with ordering by key the rows of a key are written in order") {
    kinesis.admin.createStream("ordered", 4)
    val keyed = spark
      .range(0, 4000, 1, 1)
      .select(concat(lit("k"), col("id") % 50).as("partitionKey"), col("id").cast("string").as("data"))
    writer(keyed, "streamName" -> "ordered", "ordering" -> "key").save()
    read("ordered").groupMap(_._1)(_._2.toInt).foreach { case (key, numbers) =>
      assert(numbers == numbers.sorted, key)
      assert(numbers.size == 80)
    }
  }

  test("rows are written to the stream in their column, or to the option's stream if it is null") {
    Seq("home", "left", "right").foreach(kinesis.admin.createStream(_, 1))
    val arn = kinesis.admin.createStream("far", 1)
    val routed = rows(100).withColumn(
      "stream",
      when(
        col("partitionKey") % 4 === 0,
        "left"
      ).when(col("partitionKey") % 4 === 1, "right").when(col("partitionKey") % 4 === 2, arn)
    )
    writer(routed, "streamName" -> "home", "streamColumn" -> "stream").save()
    assert(Seq("home", "left", "right", "far").map(kinesis.admin.recordCount) == Seq(25L, 25L, 25L, 25L))
    writer(routed.where("stream is not null")).save()
    assert(Seq("home", "left", "right", "far").map(kinesis.admin.recordCount) == Seq(25L, 50L, 50L, 50L))
  }

  test("the partition key is a column, a hash of columns, or random") {
    kinesis.admin.createStream("keys", 1)
    val plain = spark.range(100).select(col("id").cast("string").as("data"), (col("id") % 7).cast("string").as("user"))
    writer(plain, "streamName" -> "keys", "partitionKey" -> "user").save()
    assert(read("keys").map(_._1).distinct.size == 7)
    writer(plain, "streamName" -> "keys", "partitionKey" -> "hash(user)").save()
    assert(read("keys").drop(100).map(_._1).distinct.size == 7)
    writer(plain, "streamName" -> "keys", "partitionKey" -> "random").save()
    assert(read("keys").drop(200).map(_._1).distinct.size == 100)
  }

  test("invalid options, columns or streams are errors before a record is sent") {
    kinesis.admin.createStream("strict", 1)
    kinesis.calls.reset()
    val good = rows(10)
    def condition(set: (String, String)*) = conditionOf(writer(good, set: _*).save())._1
    assert(condition() == "KINESIS_OPTION_MISSING")
    assert(condition("streamName" -> "strict", "maxBatchSize" -> "501") == "KINESIS_OPTION_INVALID")
    assert(condition("streamName" -> "strict", "maxBatchSise" -> "5") == "KINESIS_OPTION_UNKNOWN")
    assert(condition("streamName" -> "nowhere") == "KINESIS_STREAM_NOT_FOUND")
    assert(condition("streamName" -> "strict,other") == "KINESIS_OPTION_CONFLICT")
    assert(condition("streamName" -> "strict", "rateLimiting" -> "no.such.Clazz") == "KINESIS_OPTION_INVALID")
    assert(condition("streamName" -> "strict", "onInvalidRecord" -> "deadLetter") == "KINESIS_OPTION_MISSING")
    assert(condition("streamName" -> "strict", "partitionKey" -> "hash(x)") == "KINESIS_SINK_KEY_EXPRESSION")
    assert(
      conditionOf(writer(good.drop("data"), "streamName" -> "strict").save())._1 ==
        "KINESIS_SINK_COLUMN_MISSING"
    )
    assert(
      conditionOf(writer(good.withColumn("data", lit(1)), "streamName" -> "strict").save())._1 ==
        "KINESIS_SINK_COLUMN_TYPE"
    )
    assert(kinesis.calls.count("PutRecords") == 0L)
  }

  test("an invalid row fails the write with its position and the reason, without its content") {
    kinesis.admin.createStream("narrow", 1)
    val wrong = Seq(
      rows(3).withColumn("data", when(col("partitionKey") === "1", repeat(lit("secret"), 200000)).otherwise("x")) ->
        "1200001 bytes with its partition key, the stream accepts 1048576",
      rows(3).withColumn("partitionKey", lit("")) -> "its partition key is empty",
      rows(3).withColumn("partitionKey", repeat(lit("k"), 257)) -> "its partition key has 257 characters",
      rows(3).withColumn("data", lit(null).cast("string")) -> "its column 'data' is null",
      rows(3).withColumn("explicitHashKey", lit("-1")) -> "explicit hash key",
      rows(3).withColumn("stream", lit("not a stream!")) -> "neither the name nor the ARN"
    )
    wrong.foreach { case (given, reason) =>
      val routing = given.columns.toSeq.filter(_ == "stream").map("streamColumn" -> _)
      val (condition, message) = conditionOf(writer(given, routing :+ ("streamName" -> "narrow"): _*).save())
      assert(condition == "KINESIS_SINK_ROW_INVALID")
      assert(message.contains(reason), s"expected '$reason' in: $message")
      assert(!message.contains("secretsecret"))
    }
  }

  test("invalid rows are dropped or sent to the dead-letter stream with the reason, and other rows are written") {
    kinesis.admin.createStream("mixed", 1)
    kinesis.admin.createStream("letters", 1)
    val mixed = rows(100).withColumn("data", when(col("partitionKey") % 10 === 0, lit(null)).otherwise(col("data")))
    writer(mixed, "streamName" -> "mixed", "onInvalidRecord" -> "drop").save()
    assert(kinesis.admin.recordCount("mixed") == 90L)
    writer(mixed, "streamName" -> "mixed", "onInvalidRecord" -> "deadLetter", "deadLetterStream" -> "letters").save()
    assert(kinesis.admin.recordCount("mixed") == 180L)
    assert(read("letters").count(_._2.contains("its column 'data' is null")) == 10)
  }

  test("a row that names a stream that does not exist is an invalid row") {
    Seq("present", "lost").foreach(kinesis.admin.createStream(_, 1))
    val routed = rows(100).withColumn("to", when(col("partitionKey") % 2 === 0, "absent"))
    val options = Seq("streamName" -> "present", "streamColumn" -> "to")
    kinesis.calls.reset()
    writer(
      routed,
      options ++ Seq("onInvalidRecord" -> "deadLetter", "deadLetterStream" -> "lost"): _*
    ).save()
    assert(kinesis.admin.recordCount("present") == 50L && kinesis.admin.recordCount("lost") == 50L)
    assert(read("lost").forall(_._2.contains("the stream that it names does not exist")))
    assert(kinesis.calls.count("DescribeStreamSummary", "absent") <= 2, "one call for each task")
    assert(conditionOf(writer(routed, options: _*).save())._1 == "KINESIS_STREAM_NOT_FOUND")
  }

  test("a record limit that was raised after the stream was described loses no row") {
    kinesis.admin.createStream("raised", 1)
    writer(rows(1), "streamName" -> "raised", "onInvalidRecord" -> "drop").save()
    val described = System.nanoTime()
    kinesis.admin.setMaxRecordSize("raised", 10240)
    val large = rows(1).withColumn("data", repeat(lit("x"), 2 << 20))
    var attempts = 0
    // A description counts as the present one for a second.
    while (attempts == 0 || System.nanoTime() - described < 1500000000L) {
      writer(large, "streamName" -> "raised", "onInvalidRecord" -> "drop").save()
      attempts += 1
    }
    assert(kinesis.admin.recordCount("raised") > 1, s"not one of $attempts rows was stored")
  }

  test("invalid rows are appended to a table with the reason; the table may have other columns") {
    kinesis.admin.createStream("tabled", 1)
    spark.sql(s"CREATE TABLE letters (noted STRING, ${DeadLetterTable.schema.toDDL}) USING parquet")
    val mixed =
      rows(100).withColumn("partitionKey", when(col("partitionKey") % 10 === 0, "").otherwise(col("partitionKey")))
    writer(mixed, "streamName" -> "tabled", "onInvalidRecord" -> "deadLetter", "deadLetterTable" -> "letters").save()
    assert(kinesis.admin.recordCount("tabled") == 90L)
    val letters = spark.table("letters")
    assert(
      letters.where("reason = 'its partition key is empty' AND stream = 'tabled' AND noted IS NULL").count() ==
        10L
    )
    val payloads =
      letters.select(col("data").cast("string"), col("dataBytes")).collect().map(r => r.getString(0) -> r.getLong(1))
    assert(payloads.map(_._1).sorted.toSeq == (0 until 100 by 10).map(n => s"value $n").sorted)
    assert(payloads.forall { case (data, bytes) => data.length == bytes })
  }

  test("an unsuitable dead-letter table is an error before a record is sent, with the CREATE TABLE statement") {
    kinesis.admin.createStream("untabled", 1)
    spark.sql("CREATE TABLE incomplete (reason STRING) USING parquet")
    Seq("nowhere" -> "CREATE TABLE nowhere (", "incomplete" -> "It has no column 'stream'").foreach {
      case (table, part) =>
        val (condition, message) = conditionOf(
          writer(
            rows(1),
            "streamName" -> "untabled",
            "onInvalidRecord" -> "deadLetter",
            "deadLetterTable" -> table
          ).save()
        )
        assert(condition == "KINESIS_SINK_DEAD_LETTER_TABLE")
        assert(message.contains(part), message)
    }
    assert(kinesis.admin.recordCount("untabled") == 0L)
  }

  test("an AUTO stream can be written, but not with aggregation or ordering by key") {
    kinesis.admin.createStream("auto", 4)
    kinesis.admin.distributeItself("auto")
    writer(rows(500), "streamName" -> "auto").save()
    assert(kinesis.admin.recordCount("auto") == 500L)
    Seq("aggregation" -> "true", "ordering" -> "key").foreach { option =>
      val (condition, _) = conditionOf(writer(rows(500), "streamName" -> "auto", option).save())
      assert(condition == "KINESIS_SINK_AUTO_DISTRIBUTION")
    }
  }

  test("a custom strategy is created by class name, once per stream") {
    kinesis.admin.createStream("own-strategy", 1)
    writer(rows(100), "streamName" -> "own-strategy", "rateLimiting" -> classOf[CountingStrategy].getName).save()
    assert(kinesis.admin.recordCount("own-strategy") == 100L)
    assert(CountingStrategy.made.get == 1)
    assert(CountingStrategy.sent.get == 100)
  }

  test("Spark's metrics system shows the totals of each query and stream under the names of the query's progress") {
    Seq("measured" -> 100, "measured-too" -> 50).foreach { case (stream, count) =>
      kinesis.admin.createStream(stream, 1)
      writer(rows(count), "streamName" -> stream).save()
    }
    val all = MetricsSource.values(KinesisSink.writers.sourceName)
    Seq("measured" -> 100.0, "measured-too" -> 50.0).foreach { case (stream, count) =>
      val found = all.collect {
        case (name, value) if name.startsWith("query.") && name.contains(s".stream.$stream.") =>
          name.substring(name.lastIndexOf('.') + 1) -> value
      }
      assert(found.keySet == KinesisSink.metrics.map(_.name).toSet + "meanBatchSize", all.keySet)
      assert(found("recordsOut") == count && found("putPayloadUnits") == count, found)
      assert((found("inFlightRequests"), found("recordsBuffered")) == (0.0, 0.0))
    }
  }
}
