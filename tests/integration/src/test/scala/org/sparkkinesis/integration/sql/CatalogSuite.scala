package org.sparkkinesis.integration.sql

import org.sparkkinesis.KinesisCatalog

/** The streams of an account as tables of a catalog. */
class CatalogSuite extends TableFixture {
  override protected def settings: Map[String, String] =
    catalog("kinesis") ++ catalog("readonly") + ("spark.sql.catalog.kinesis.allowStreamChanges" -> "true")

  private def catalog(name: String): Map[String, String] = (connection("") - "streamName").map { case (option, value) =>
    s"spark.sql.catalog.$name.$option" -> value
  } +
    (s"spark.sql.catalog.$name" -> classOf[KinesisCatalog].getName)

  private def stream(name: String): String = {
    kinesis.admin.createStream(name, 2)
    put(name, 1, 2, 3)
    name
  }

  private def described(table: String): String =
    spark.sql(s"DESCRIBE EXTENDED $table").collect().map(_.mkString(" ")).mkString("\n")

  test("streams are listed, described and read without CREATE TABLE") {
    Seq("catalog_a", "catalog_b").foreach(stream)
    val listed = spark.sql("SHOW TABLES IN readonly.default").collect().map(_.getString(1)).toSet
    assert(Set("catalog_a", "catalog_b").subsetOf(listed))
    assert(values("readonly.default.catalog_a") == Seq(1, 2, 3))
    assert(values(s"readonly.`${connection("")("region")}`.catalog_a") == Seq(1, 2, 3))
    val shown = described("readonly.default.catalog_a")
    Seq(
      "shards=2",
      "mode=PROVISIONED",
      "retentionHours=24",
      "stream.status=ACTIVE",
      "stream.encryption=none",
      "stream.consumers=0",
      "stream.maxRecordSize=1024k"
    ).foreach(fact => assert(shown.contains(fact), shown))
    connection("").get("awsSecretKey").foreach(secret => assert(!shown.split("\\W+").contains(secret), shown))
  }

  test("a stream of the catalog is written, and read as a stream") {
    stream("catalog_c")
    spark.sql("INSERT INTO readonly.default.catalog_c VALUES ('k', CAST('4' AS BINARY))")
    spark.sql("INSERT INTO readonly.default.catalog_c (data, partitionKey) VALUES (CAST('5' AS BINARY), 'k')")
    assert(values("readonly.default.catalog_c") == (1 to 5))
    val query = spark.readStream.option("initialPosition", "trim_horizon").table("readonly.default.catalog_c")
      .selectExpr("CAST(data AS STRING)").writeStream.format("memory").queryName("catalog_rows").start()
    try {
      query.processAllAvailable()
      assert(spark.table("catalog_rows").count() == 5)
    } finally query.stop()
    assert(texts(
      "SELECT CAST(data AS STRING) FROM readonly.default.catalog_c WITH ('endingPosition' = 'trim_horizon')"
    ).isEmpty)
  }

  test("a stream or a namespace that does not exist is an error of Spark") {
    assert(refused(spark.table("kinesis.default.nowhere")).getCondition == "TABLE_OR_VIEW_NOT_FOUND")
    assert(refused(spark.table("kinesis.nowhere.orders")).getCondition == "TABLE_OR_VIEW_NOT_FOUND")
    assert(refused(spark.sql("SHOW TABLES IN kinesis.nowhere").collect()).getCondition.contains("NOT_FOUND"))
    assert(!hasTable("kinesis.default.nowhere"))
    spark.sql("DROP TABLE IF EXISTS kinesis.default.nowhere")
  }

  test("a catalog changes no stream unless it may") {
    stream("catalog_d")
    Seq(
      "CREATE TABLE readonly.default.catalog_new TBLPROPERTIES ('shards' = '1')",
      "ALTER TABLE readonly.default.catalog_d SET TBLPROPERTIES ('shards' = '4')",
      "DROP TABLE readonly.default.catalog_d"
    ).foreach { statement =>
      assert(refused(spark.sql(statement)).getCondition == "KINESIS_CATALOG_CHANGES_NOT_ALLOWED", statement)
    }
    assert(kinesis.admin.streamNames.contains("catalog_d") && !kinesis.admin.streamNames.contains("catalog_new"))
  }

  test("a stream is created, used, changed, shown and dropped") {
    spark.sql("CREATE TABLE kinesis.default.catalog_e TBLPROPERTIES ('shards' = '2', 'retentionHours' = '48')")
    spark.sql("CREATE TABLE IF NOT EXISTS kinesis.default.catalog_e")
    assert(refused(spark.sql("CREATE TABLE kinesis.default.catalog_e")).getCondition == "TABLE_OR_VIEW_ALREADY_EXISTS")
    put("catalog_e", 1, 2)
    assert(values("kinesis.default.catalog_e") == Seq(1, 2))
    assert(described("kinesis.default.catalog_e").contains("retentionHours=48"))

    val replayed = spark.sql("SHOW CREATE TABLE kinesis.default.catalog_e").collect().head.getString(0)
      .replace("catalog_e", "catalog_f")
    spark.sql(replayed)
    val copy = described("kinesis.default.catalog_f")
    assert(copy.contains("shards=2") && copy.contains("retentionHours=48"), replayed)

    spark.sql(
      "ALTER TABLE kinesis.default.catalog_e SET TBLPROPERTIES ('shards' = '6', 'retentionHours' = '24')"
    )
    val changed = described("kinesis.default.catalog_e")
    assert(changed.contains("shards=6") && changed.contains("retentionHours=24"), changed)
    // From two shards to six are two steps. The closed shards stay while they have records.
    val shards = spark.sql("SHOW PARTITIONS kinesis.default.catalog_e").collect().map(_.getString(0)).toSeq
    assert(shards.count(_.contains("/state=OPEN/")) == 6)
    assert(shards.exists(_.contains("/state=CLOSED/")))
    assert(values("kinesis.default.catalog_e") == Seq(1, 2))

    spark.sql("ALTER TABLE kinesis.default.catalog_f SET TBLPROPERTIES ('mode' = 'ON_DEMAND')")
    assert(described("kinesis.default.catalog_f").contains("mode=ON_DEMAND"))

    Seq("catalog_e", "catalog_f").foreach { name =>
      spark.sql(s"DROP TABLE kinesis.default.$name")
      assert(!kinesis.admin.streamNames.contains(name))
    }
  }

  test("a stream without a number of shards is on-demand") {
    spark.sql("CREATE TABLE kinesis.default.catalog_g (partitionKey STRING, data BINARY, stream STRING, " +
      "shardId STRING, sequenceNumber STRING, approximateArrivalTimestamp TIMESTAMP)")
    assert(described("kinesis.default.catalog_g").contains("mode=ON_DEMAND"))
    spark.sql("DROP TABLE kinesis.default.catalog_g")
  }

  test("what a stream cannot have is an error before any stream is changed") {
    stream("catalog_h")
    Seq(
      "CREATE TABLE kinesis.default.catalog_i TBLPROPERTIES ('shard' = '2')" -> "KINESIS_CATALOG_PROPERTY_INVALID",
      "CREATE TABLE kinesis.default.catalog_i TBLPROPERTIES ('shards' = 'two')" -> "KINESIS_CATALOG_PROPERTY_INVALID",
      "CREATE TABLE kinesis.default.catalog_i TBLPROPERTIES ('mode' = 'PROVISIONED')" ->
        "KINESIS_CATALOG_PROPERTY_INVALID",
      "CREATE TABLE kinesis.default.catalog_i (id INT)" -> "KINESIS_TABLE_SCHEMA_GIVEN",
      "ALTER TABLE kinesis.default.catalog_h SET TBLPROPERTIES ('retentionHours' = '23')" ->
        "KINESIS_CATALOG_PROPERTY_INVALID",
      "ALTER TABLE kinesis.default.catalog_h UNSET TBLPROPERTIES ('shards')" -> "KINESIS_CATALOG_UNSUPPORTED",
      "ALTER TABLE kinesis.default.catalog_h ADD COLUMN id INT" -> "KINESIS_CATALOG_UNSUPPORTED",
      "ALTER TABLE kinesis.default.catalog_h RENAME TO default.catalog_i" -> "KINESIS_CATALOG_UNSUPPORTED",
      "CREATE NAMESPACE kinesis.other" -> "KINESIS_CATALOG_UNSUPPORTED"
    ).foreach { case (statement, condition) =>
      assert(refused(spark.sql(statement)).getCondition == condition, statement)
    }
    assert(!kinesis.admin.streamNames.contains("catalog_i"))
  }
}
