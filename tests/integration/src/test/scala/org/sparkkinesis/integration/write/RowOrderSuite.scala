package org.sparkkinesis.integration.write

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}

/** Rows of a key in several input partitions: to which task they go, and in which order. */
class RowOrderSuite extends SinkFixture {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> "8",
    "spark.sql.adaptive.enabled" -> "false"
  )

  /** Rows of 50 keys, of which each is in all of 4 partitions. */
  private def spread(rows: Long): DataFrame = spark
    .range(0, rows, 1, 4)
    .repartition(4)
    .select(concat(lit("k"), col("id") % 50).as("partitionKey"), col("id").cast("string").as("data"), col("id").as("n"))

  private def assertSorted(stream: String, rows: Int)(implicit order: Ordering[Int]): Unit = {
    val byKey = read(stream).groupMap(_._1)(_._2.toInt)
    assert(byKey.values.map(_.size).sum == rows)
    byKey.foreach { case (key, numbers) => assert(numbers == numbers.sorted, key) }
  }

  /** Returns the shuffles that Spark adds to write these rows. */
  private def shufflesOf(rows: DataFrame, set: (String, String)*): Int =
    nodes(planOf(writer(rows, set: _*).save())).count(_.isInstanceOf[ShuffleExchangeLike])

  test("with orderBy, the rows of a key from several partitions are stored in that order, also if some are refused") {
    kinesis.admin.createStream("sorted", 4)
    val refusals = kinesis.faults.add(FaultRule(
      FaultEffect.FailEntries("InternalFailure", "injected"),
      operation = "PutRecords",
      probability = 0.02
    ))
    writer(spread(3000), "streamName" -> "sorted", "ordering" -> "key", "orderBy" -> "n").save()
    kinesis.faults.remove(refusals)
    assertSorted("sorted", 3000)
  }

  test("a descending order is kept") {
    kinesis.admin.createStream("falling", 2)
    writer(spread(2000), "streamName" -> "falling", "ordering" -> "bestEffort", "distributeByKey" -> "true").option(
      "orderBy",
      "n desc"
    ).save()
    assertSorted("falling", 2000)(Ordering.Int.reverse)
  }

  test("a streaming query writes the rows of a key of each micro-batch in one task and in order") {
    kinesis.admin.createStream("input", 4)
    kinesis.admin.createStream("output", 4)
    writer(spread(3000), "streamName" -> "input", "ordering" -> "key", "orderBy" -> "n").save()
    val query = readStream("input")
      .load()
      .repartition(6)
      .withColumn("n", col("data").cast("string").cast("int"))
      .writeStream
      .format(format)
      .options(target)
      .options(Map("streamName" -> "output", "ordering" -> "key", "orderBy" -> "n"))
      .option("checkpointLocation", checkpoint())
      .trigger(Trigger.AvailableNow())
      .start()
    query.awaitTermination()
    assertSorted("output", 3000)
  }

  test("rows that are clustered by the key already are not shuffled again, and the option turns the shuffle off") {
    kinesis.admin.createStream("shuffles", 2)
    val rows = spark.range(0, 100, 1, 4).select(col("id").cast("string").as("partitionKey"), lit("x").as("data"))
    val counts = rows.groupBy("partitionKey").agg(max("data").as("data"))
    val toStream = Seq("streamName" -> "shuffles")
    assert(shufflesOf(rows, toStream: _*) == 0)
    assert(shufflesOf(rows, toStream :+ ("ordering" -> "key"): _*) == 1)
    assert(shufflesOf(rows, toStream ++ Seq("ordering" -> "key", "distributeByKey" -> "false"): _*) == 0)
    assert(shufflesOf(counts, toStream :+ ("ordering" -> "key"): _*) == 1)
  }

  test("columns of orderBy are checked before the query starts") {
    kinesis.admin.createStream("checked", 1)
    def conditionFor(set: (String, String)*) =
      conditionOf(writer(spread(1), set :+ ("streamName" -> "checked"): _*).save())._1
    assert(conditionFor("ordering" -> "key", "orderBy" -> "m") == "KINESIS_SINK_COLUMN_MISSING")
    assert(conditionFor("orderBy" -> "n") == "KINESIS_OPTION_CONFLICT")
  }
}
