package org.sparkkinesis.integration.sql

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected

class SqlTableSuite extends SparkSuite {
  private def createTable(table: String, stream: String): Unit = {
    val options = connection(stream).map { case (name, value) => s"'$name' '$value'" }.mkString(", ")
    spark.sql(s"CREATE TABLE $table USING kinesis OPTIONS ($options)")
    ()
  }

  private def texts(query: String): Set[String] = spark.sql(query).collect().map(_.getString(0)).toSet

  test("a table can be created, described, queried and dropped") {
    kinesis.admin.createStream("events", 3)
    (0 until 30).foreach(i => kinesis.admin.putRecord("events", s"k${i % 3}", utf8(i.toString)))
    createTable("events", "events")
    assert(
      spark.table("events").columns.toSeq ==
        Seq("partitionKey", "data", "stream", "shardId", "sequenceNumber", "approximateArrivalTimestamp")
    )
    assert(spark.sql("SELECT count(*) FROM events").head().getLong(0) == 30L)
    assert(
      texts("SELECT CAST(data AS STRING) FROM events WHERE partitionKey = 'k1'") ==
        (0 until 30).filter(_ % 3 == 1).map(_.toString).toSet
    )
    assert(
      spark.sql("SELECT partitionKey, count(*) AS n FROM events GROUP BY partitionKey").collect().map(r =>
        r.getString(0) -> r.getLong(1)
      ).toMap ==
        Map("k0" -> 10L, "k1" -> 10L, "k2" -> 10L)
    )
    assert(spark.sql("SELECT aggregated FROM events LIMIT 1").head().getBoolean(0) == false)
    assert(!spark.sql("DESCRIBE TABLE EXTENDED events").collect().map(_.toString).mkString.contains("secret-of-a-test"))
    spark.sql("DROP TABLE events")
    assert(spark.sql("SHOW TABLES").count() == 0L)
  }

  test("INSERT INTO works with column names and from a query") {
    kinesis.admin.createStream("into", 2)
    createTable("into_table", "into")
    spark.sql(
      "INSERT INTO into_table (partitionKey, data) VALUES ('a', CAST('one' AS BINARY)), ('b', CAST('two' AS BINARY))"
    )
    spark.sql("INSERT INTO into_table SELECT 'c' AS partitionKey, CAST('three' AS BINARY) AS data")
    assert(
      texts("SELECT concat(partitionKey, '=', CAST(data AS STRING)) FROM into_table") ==
        Set("a=one", "b=two", "c=three")
    )
    assert(kinesis.admin.recordCount("into") == 3L)
  }

  test("a table can be read and written as a stream") {
    kinesis.admin.createStream("from_stream", 2)
    kinesis.admin.createStream("to_stream", 2)
    createTable("from_table", "from_stream")
    createTable("to_table", "to_stream")
    (0 until 100).foreach(i => kinesis.admin.putRecord("from_stream", s"k$i", utf8(i.toString)))
    val query = spark.readStream.option(
      "initialPosition",
      "trim_horizon"
    ).table("from_table").selectExpr("partitionKey", "data").writeStream
      .option("checkpointLocation", checkpoint()).trigger(Trigger.AvailableNow()).toTable("to_table")
    assert(query.awaitTermination(60000))
    assert(texts("SELECT CAST(data AS STRING) FROM to_table") == (0 until 100).map(_.toString).toSet)
    assert(kinesis.admin.recordCount("to_stream") == 100L)
  }

  test("options of a read override the table's options") {
    kinesis.admin.createStream("above", 1)
    createTable("above_table", "above")
    kinesis.admin.putRecord("above", "k", utf8("old"))
    val cut = System.currentTimeMillis()
    while (System.currentTimeMillis() <= cut) Thread.onSpinWait()
    kinesis.admin.putRecord("above", "k", utf8("new"))
    val at = java.time.Instant.ofEpochMilli(cut + 1).toString
    assert(
      spark.read.option(
        "initialPosition",
        at
      ).table("above_table").selectExpr("CAST(data AS STRING)").collect().map(_.getString(0)).toSeq ==
        Seq("new")
    )
    assert(
      spark.read.option(
        "endingPosition",
        java.time.Instant.ofEpochMilli(cut).toString
      ).table("above_table").selectExpr("CAST(data AS STRING)").collect().map(_.getString(0)).toSeq ==
        Seq("old")
    )
  }

  test("a batch read ends at its start time in all shards, including closed ones") {
    kinesis.admin.createStream("bounded", 2)
    (0 until 50).foreach(i => kinesis.admin.putRecord("bounded", s"k$i", utf8(i.toString)))
    kinesis.admin.splitShard("bounded", "shardId-000000000000")
    (50 until 80).foreach(i => kinesis.admin.putRecord("bounded", s"k$i", utf8(i.toString)))
    val rows = spark.read.format("kinesis").options(connection("bounded")).load()
    assert(rows.selectExpr("CAST(data AS STRING)").collect().map(_.getString(0).toInt).sorted.toSeq == (0 until 80))
    val last = kinesis.admin.records("bounded", "shardId-000000000001").apply(4).sequenceNumber
    val some = spark.read.format("kinesis").options(connection("bounded"))
      .option("initialPosition", """{"shardId-000000000001": "trim_horizon", "*": "latest"}""")
      .option("endingPosition", s"""{"shardId-000000000001": {"at_sequence_number": "$last"}, "*": "latest"}""").load()
    assert(some.count() == 5L)
  }

  test("a stream can be read into memory by SQL while it grows") {
    kinesis.admin.createStream("grows", 1)
    createTable("grows_table", "grows")
    kinesis.admin.putRecord("grows", "k", utf8("1"))
    val collected = new Collected
    val query = spark.readStream.options(Map(
      "initialPosition" -> "earliest",
      "minFetchPeriod" -> "20ms"
    )).table("grows_table").writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    await(query, "one row")(collected.rows.size == 1)
    kinesis.admin.putRecord("grows", "k", utf8("2"))
    await(query, "two rows")(collected.rows.size == 2)
  }
}
