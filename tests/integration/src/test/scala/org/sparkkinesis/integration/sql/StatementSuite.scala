package org.sparkkinesis.integration.sql

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

import scala.util.Using

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.event.BatchFromLatest
import org.sparkkinesis.integration.log.RecordedLog

/** What one statement reads, and what Spark shows and knows of it. */
class StatementSuite extends TableFixture {
  private def describedBy(query: String): String =
    spark.sql(s"EXPLAIN EXTENDED $query").collect().map(_.getString(0)).mkString

  test("EXPLAIN shows stream, positions and mode, and no secret") {
    table("explained", "initialPosition" -> "trim_horizon", "roleExternalId" -> "secret-of-a-test")
    val plan = describedBy("SELECT data FROM explained")
    assert(plan.contains("kinesis explained from trim_horizon to latest [data]"), plan)
    assert(!plan.contains("secret-of-a-test"), plan)
    val loaded = spark.read.format("kinesis").options(connection("explained")).load()
    assert(loaded.queryExecution.analyzed.toString.contains("kinesis(explained, polling)"))
  }

  test("a statement reads each stream up to one end while the stream grows") {
    table("grows")
    val isDone = new AtomicBoolean
    // About one record in a millisecond, because each statement reads all of them.
    val producer = new Thread(() => while (!isDone.get) { put("grows", 1); LockSupport.parkNanos(1000000) })
    producer.start()
    val count = "SELECT count(*) AS n FROM grows"
    val statements = Seq(
      s"SELECT ($count), ($count)",
      s"SELECT a.n, b.n FROM ($count) a CROSS JOIN ($count) b",
      "SELECT sum(CASE WHEN side = 1 THEN 1 END), sum(CASE WHEN side = 2 THEN 1 END) FROM " +
        "(SELECT 1 AS side FROM grows UNION ALL SELECT 2 FROM grows)"
    )
    try {
      val seen = for (_ <- 1 to 10; statement <- statements) yield {
        val row = spark.sql(statement).head()
        row.getLong(0) -> row.getLong(1)
      }
      assert(seen.filter { case (one, other) => one != other } == Nil)
      assert(seen.map(_._1).distinct.size > 10, "the stream grew between the statements")
    } finally {
      isDone.set(true)
      producer.join()
    }
  }

  test("a batch read from latest warns and says how to read the records") {
    table("for_streams", "initialPosition" -> "latest")
    put("for_streams", 1)
    Using.resource(new RecordedLog("for_streams")) { log =>
      assert(spark.table("for_streams").count() == 0L)
      val warning = BatchFromLatest("for_streams").message
      assert(warning.contains("WITH ('initialPosition' = 'trim_horizon')"))
      assert(log.visible.map(_.message).contains(warning), log.visible)
    }
  }

  test("a small stream is broadcast, a large one and a missing one are not") {
    table("small")
    put("small", 1, 2, 3)
    kinesis.admin.createStream("wide", 5)
    create("wide", connection("wide").toSeq: _*)
    create("missing", connection("missing").toSeq: _*)
    spark.range(2000000000L).selectExpr("concat('k', id) AS id").createOrReplaceTempView("facts")
    def isBroadcast(stream: String): Boolean = spark.sql(s"SELECT * FROM facts JOIN $stream ON id = partitionKey")
      .queryExecution.sparkPlan.exists(_.isInstanceOf[BroadcastHashJoinExec])
    assert(isBroadcast("small"))
    assert(!isBroadcast("wide"))
    assert(!isBroadcast("missing"))
  }

  test("statistics look at each shard once for a join, and not at all without a join") {
    // A read that may use more tasks than shards looks at the shards as well.
    table("counted", "shardsPerTask" -> "1")
    put("counted", 1)
    def iteratorsOf(query: String, table: String = "counted"): Long = {
      val before = kinesis.calls.count("GetShardIterator", table)
      assert(spark.sql(query).collect().length == 1)
      kinesis.calls.count("GetShardIterator", table) - before
    }
    spark.range(100).selectExpr("concat('k', id) AS id").createOrReplaceTempView("keys")
    assert(iteratorsOf("SELECT count(*) FROM counted") == 2L)
    assert(iteratorsOf("SELECT * FROM keys JOIN counted ON id = partitionKey") == 2L + 2L)
    // The statistics and the division into tasks use the same look.
    table("divided")
    put("divided", 1)
    assert(iteratorsOf("SELECT * FROM keys JOIN divided ON id = partitionKey", "divided") == 2L + 2L)
  }

  test("an error has its condition, whether it is found in the statement or by the service") {
    def error(options: Map[String, String]): Throwable =
      intercept[Throwable](spark.read.format("kinesis").options(connection("nowhere") ++ options).load().count())
    error(Map("regon" -> "x")) match {
      case found: SparkThrowable => assert(found.getCondition == "KINESIS_OPTION_UNKNOWN")
      case other => fail(other)
    }
    error(Map.empty) match {
      case found: KinesisConnectorException with SparkThrowable =>
        assert(found.getCondition == "KINESIS_STREAM_NOT_FOUND")
        assert(found.getMessageParameters.get("stream") == "nowhere")
      case other => fail(other)
    }
  }

  test("columns of a read that the user names are an error") {
    table("with_columns")
    def read = spark.read.format("kinesis").options(connection("with_columns")).schema("id INT").load()
    assert(refused(read).getCondition == "KINESIS_TABLE_SCHEMA_GIVEN")
  }
}
