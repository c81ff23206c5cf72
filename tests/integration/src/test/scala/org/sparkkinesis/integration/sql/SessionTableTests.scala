package org.sparkkinesis.integration.sql

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.kit.stream.Collected

/** What holds for tables in the session catalog, whatever implements it. */
abstract class SessionTableTests extends TableFixture {

  test("a table can be read by SQL, by name and as a stream, and written") {
    table("uses", "initialPosition" -> "trim_horizon")
    put("uses", 1, 2)
    spark.sql("INSERT INTO uses VALUES ('k', CAST('3' AS BINARY))")
    spark.range(4, 5).selectExpr("'k' AS partitionKey", "CAST(id AS STRING) AS data").writeTo("uses").append()
    spark.range(5, 6).selectExpr("'k'", "CAST(id AS STRING)").write.insertInto("uses")
    assert(values("uses") == (1 to 5))
    assert(spark.sql("SELECT aggregated FROM uses").count() == 5L)
    val collected = new Collected
    val query = spark.readStream.table("uses").writeStream.option("checkpointLocation", checkpoint())
      .foreachBatch(collected.sink).trigger(Trigger.AvailableNow()).start()
    assert(query.awaitTermination(60000))
    assert(collected.rows.size == 5)
    assert(query.lastProgress.sources.head.description == "kinesis uses from trim_horizon, polling")
  }

  test("a stream can be written to a table") {
    table("written_from")
    table("written_to")
    put("written_from", 1, 2, 3)
    val rows = spark.readStream.option("initialPosition", "trim_horizon").table("written_from")
    val query = rows.writeStream.format("kinesis").option("checkpointLocation", checkpoint())
      .trigger(Trigger.AvailableNow()).toTable("written_to")
    assert(query.awaitTermination(60000))
    assert(values("written_to") == Seq(1, 2, 3))
  }

  test("options of one query take precedence, and the next query has those of the table again") {
    table("precedence", "initialPosition" -> "latest")
    put("precedence", 1, 2)
    def rows(options: String): Long = spark.sql(s"SELECT * FROM precedence $options").count()
    assert(rows("") == 0L)
    assert(rows("WITH ('initialPosition' = 'trim_horizon')") == 2L)
    assert(rows("") == 0L)
    assert(spark.read.option("initialPosition", "trim_horizon").table("precedence").count() == 2L)
    val options = list((connection("precedence") + ("initialPosition" -> "trim_horizon")).toSeq)
    spark.sql(s"CREATE TEMPORARY VIEW all_of_it USING kinesis OPTIONS ($options)")
    assert(spark.table("all_of_it").count() == 2L)
    assert(refused(rows("WITH ('initialPositon' = 'trim_horizon')")).getCondition == "KINESIS_OPTION_UNKNOWN")
  }

  test("a view with the name of a table hides it, and a view over a table reads it") {
    table("seen")
    put("seen", 1)
    spark.sql("CREATE VIEW over_seen AS SELECT * FROM seen WITH ('initialPosition' = 'trim_horizon')")
    assert(spark.table("over_seen").count() == 1L)
    spark.range(7).createOrReplaceTempView("seen")
    assert(spark.read.option("initialPosition", "trim_horizon").table("seen").count() == 7L)
    assert(spark.table("over_seen").count() == 1L)
    spark.catalog.dropTempView("seen")
    spark.sql("DROP VIEW over_seen")
  }

  test("CREATE TABLE refuses a misspelt option, and leaves the name free") {
    val error = refused(create("misspelt", "streamNme" -> "x"))
    assert(error.getCondition == "KINESIS_OPTION_UNKNOWN")
    assert(error.getMessage.contains("Did you mean 'streamName'?"), error.getMessage)
    assert(!hasTable("misspelt"))
    table("misspelt")
    assert(values("misspelt").isEmpty)
    assert(refused(create("of_bad_value", "maxRecordsPerFetch" -> "many")).getCondition == "KINESIS_OPTION_INVALID")
    assert(refused(spark.sql("CREATE TABLE f USING firehose OPTIONS (streamName 'x')")).getCondition ==
      "KINESIS_OPTION_UNKNOWN")
  }

  test("CREATE TABLE that names columns checks its options, and accepts only the columns of each table") {
    def made(columns: String, options: String, format: String = "kinesis"): Unit =
      spark.sql(s"CREATE TABLE with_columns ($columns) USING $format OPTIONS ($options) TBLPROPERTIES ('team' = 'x')")
    def condition(columns: String, options: String, format: String = "kinesis"): String = {
      val found = refused(made(columns, options, format)).getCondition
      assert(!hasTable("with_columns"))
      found
    }
    val all = "partitionKey STRING NOT NULL COMMENT 'key', data BINARY, stream STRING, shardId STRING, " +
      "sequenceNumber STRING, approximateArrivalTimestamp TIMESTAMP"
    assert(condition(all, "streamNme 'x'") == "KINESIS_OPTION_UNKNOWN")
    assert(condition(all, "maxRecordsPerFetch 'many'") == "KINESIS_OPTION_INVALID")
    assert(condition("data BINARY", "streamName 'x'", "firehose") == "KINESIS_OPTION_UNKNOWN")
    assert(condition("id INT", "streamName 'x'") == "KINESIS_TABLE_SCHEMA_GIVEN")
    assert(condition("partitionKey STRING, data STRING", "streamName 'x'") == "KINESIS_TABLE_SCHEMA_GIVEN")
    assert(condition("id INT", "deliveryStreamName 'x'", "firehose") == "KINESIS_TABLE_SCHEMA_GIVEN")
    kinesis.admin.createStream("with_columns", 1)
    put("with_columns", 1)
    made(all, list(connection("with_columns").toSeq))
    assert(values("with_columns") == Seq(1))
    spark.sql("DROP TABLE with_columns")
    made("data BINARY", "deliveryStreamName 'x'", "firehose")
    spark.sql("DROP TABLE with_columns")
    spark.sql("CREATE TABLE with_columns (id INT) USING parquet")
    spark.sql("DROP TABLE with_columns")
  }

  test("properties that are not options are ignored") {
    kinesis.admin.createStream("tagged", 1)
    put("tagged", 1)
    spark.sql(
      s"CREATE TABLE tagged USING kinesis OPTIONS (${list(connection("tagged").toSeq)}) COMMENT 'orders' " +
        "TBLPROPERTIES ('team' = 'x', 'delta.minReaderVersion' = '1')"
    )
    spark.sql("ALTER TABLE tagged SET TBLPROPERTIES ('owner.of' = 'y', 'streamNme' = 'z')")
    spark.sql("COMMENT ON TABLE tagged IS 'all orders'")
    assert(values("tagged") == Seq(1))
    spark.sql("INSERT INTO tagged VALUES ('k', '2')")
    assert(values("tagged") == Seq(1, 2))
    spark.sql("ALTER TABLE tagged UNSET TBLPROPERTIES ('team')")
    spark.sql("ALTER TABLE tagged SET TBLPROPERTIES ('initialPosition' = 'latest')")
    assert(values("tagged").isEmpty)
    spark.sql("CREATE TABLE sent USING firehose OPTIONS (deliveryStreamName 'x') TBLPROPERTIES ('team' = 'x')")
    spark.sql("DROP TABLE sent")
  }

  test("a table whose options are wrong can be described, changed and dropped, but not used") {
    table("broken")
    spark.sql("ALTER TABLE broken SET TBLPROPERTIES ('maxRecordsPerFetch' = 'many')")
    Seq(
      "DESCRIBE broken",
      "DESCRIBE EXTENDED broken",
      "SHOW TBLPROPERTIES broken",
      "SHOW CREATE TABLE broken",
      "ALTER TABLE broken SET TBLPROPERTIES ('team' = 'x')"
    ).foreach(spark.sql(_).collect())
    Seq(
      "SELECT * FROM broken",
      "SELECT * FROM broken WITH ('minFetchPeriod' = '1s')",
      "INSERT INTO broken VALUES ('k', 'x')"
    ).foreach(text => assert(refused(spark.sql(text).collect()).getCondition == "KINESIS_OPTION_INVALID", text))
    spark.sql("DROP TABLE IF EXISTS broken")
    assert(!hasTable("broken"))
    spark.sql("CREATE TABLE broken USING firehose OPTIONS (deliveryStreamName 'x')")
    spark.sql("ALTER TABLE broken SET TBLPROPERTIES ('maxBatchSize' = '0')")
    spark.sql("DESCRIBE EXTENDED broken").collect()
    assert(refused(spark.sql("INSERT INTO broken VALUES ('x')")).getCondition == "KINESIS_OPTION_INVALID")
    spark.sql("DROP TABLE broken")
  }

  test("SHOW CREATE TABLE, replayed, makes an equal table") {
    table("original", "initialPosition" -> "trim_horizon")
    put("original", 1, 2)
    spark.sql("ALTER TABLE original SET TBLPROPERTIES ('team' = 'x', 'minFetchPeriod' = '1s')")
    spark.sql("INSERT INTO original VALUES ('k', '3')")
    def described: Seq[String] = spark.sql("DESCRIBE EXTENDED original").collect().map(_.mkString("|")).toSeq
      .filterNot(line => line.startsWith("Created Time") || line.startsWith("Last Access"))
    val (before, statement) = (described, texts("SHOW CREATE TABLE original").head)
    assert(!statement.contains("secret-of-a-test"), statement)
    spark.sql("DROP TABLE original")
    spark.sql(statement)
    val after = described
    assert(withoutProperties(after) == withoutProperties(before))
    assert(values("original") == Seq(1, 2, 3))
    assert(texts("SHOW CREATE TABLE original").head == statement)
  }

  /**
   * The lines without that of all properties, which has the secrets in one form before and in another one after the
   * statement, and with types in the form without their default collation.
   */
  private def withoutProperties(lines: Seq[String]): Seq[String] =
    lines.filterNot(_.contains("awsSecretKey")).map(_.replace(" collate UTF8_BINARY", ""))

  test("DESCRIBE EXTENDED names the provider and the options without secrets, and calls no service") {
    table("described", "initialPosition" -> "trim_horizon", "roleExternalId" -> "secret-of-a-test")
    val calls = kinesis.calls.count("ListShards", "described")
    val text = spark.sql("DESCRIBE EXTENDED described").collect().map(_.mkString(" ")).mkString("\n")
    assert(text.contains("Provider kinesis"), text)
    assert(text.contains("streamName=described") && text.contains("initialPosition=trim_horizon"), text)
    assert(!text.contains("secret-of-a-test"), text)
    assert(kinesis.calls.count("ListShards", "described") == calls)
  }

  test("INSERT matches columns by position, by a list, or by the name of the payload's column") {
    table("inserted")
    Seq(
      "VALUES ('a', CAST('1' AS BINARY))",
      "SELECT 'b', '2'",
      "(data, partitionKey) VALUES ('3', 'c')",
      "SELECT '4' AS data, 'd' AS partitionKey",
      "BY NAME SELECT '5' AS data, 'e' AS partitionKey",
      "SELECT 'f' AS anything, '6' AS partitionKey"
    ).foreach(rows => spark.sql(s"INSERT INTO inserted $rows"))
    assert(texts("SELECT concat(partitionKey, CAST(data AS STRING)) FROM inserted") ==
      Seq("a1", "b2", "c3", "d4", "e5", "f6"))
    assert(refused(spark.sql("INSERT INTO inserted VALUES (CAST('1' AS BINARY), 'a')")).getCondition ==
      "KINESIS_SINK_COLUMN_TYPE")
    assert(refused(spark.sql("INSERT INTO inserted VALUES ('a')")).getCondition == "KINESIS_SINK_COLUMN_MISSING")
    assert(refused(spark.range(1).selectExpr("'k' AS a", "'1' AS b").writeTo("inserted").append()).getCondition ==
      "KINESIS_SINK_COLUMN_MISSING")
  }

  test("a table cannot be created from a query or a DataFrame, and the error says what to write instead") {
    val options = list(connection("none").toSeq)
    val rows = spark.range(1).selectExpr("'k' AS partitionKey", "'1' AS data")
    val writer = rows.write.format("kinesis").options(connection("none"))
    Seq[() => Any](
      () => spark.sql(s"CREATE TABLE made USING kinesis OPTIONS ($options) AS SELECT 'k' AS partitionKey, '1' AS data"),
      () => writer.saveAsTable("made"),
      () => rows.writeTo("made").using("kinesis").create()
    ).foreach { create =>
      val error = refused(create())
      assert(error.getCondition == "KINESIS_TABLE_CREATED_FROM_QUERY")
      assert(error.getMessage.contains("INSERT INTO"), error.getMessage)
      assert(!hasTable("made"))
    }
  }

  test("a batch that inserts a table into itself repeats the records that it had") {
    table("doubled")
    put("doubled", (0 until 100): _*)
    spark.sql("INSERT INTO doubled SELECT * FROM doubled")
    assert(values("doubled") == (0 until 100).flatMap(i => Seq(i, i)))
    assert(kinesis.admin.recordCount("doubled") == 200L)
  }
}

/** Spark's own session catalog. */
class SessionTableSuite extends SessionTableTests {
  test("a table with a default collation works") {
    kinesis.admin.createStream("collated", 1)
    put("collated", 1)
    val options = list(connection("collated").toSeq)
    spark.sql(s"CREATE TABLE collated USING kinesis OPTIONS ($options) DEFAULT COLLATION UTF8_LCASE")
    assert(values("collated") == Seq(1))
    spark.sql("DROP TABLE collated")
  }
}

/** A session catalog that delegates, as those of Delta Lake and Iceberg do. */
class DelegatingCatalogSuite extends SessionTableTests {
  override protected def settings: Map[String, String] =
    Map("spark.sql.catalog.spark_catalog" -> classOf[BareSessionCatalog].getName)
}
