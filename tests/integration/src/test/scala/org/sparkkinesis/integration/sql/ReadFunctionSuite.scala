package org.sparkkinesis.integration.sql

/** The table-valued function `read_kinesis`. */
class ReadFunctionSuite extends TableFixture {

  /** The arguments that connect with the emulator. */
  private def arguments(stream: String, more: String*): String =
    (connection(stream).toSeq.map { case (name, value) => s"`$name` => '$value'" } ++ more).mkString(", ")

  private def read(stream: String, more: String*): String = s"read_kinesis(${arguments(stream, more: _*)})"

  test("it reads a stream with the options of its arguments") {
    kinesis.admin.createStream("function_reads", 2)
    put("function_reads", 1, 2, 3)
    assert(values(read("function_reads")) == Seq(1, 2, 3))
    assert(values(read("function_reads", "INITIALPOSITION => 'latest'")) == Nil)
    assert(values(read("function_reads", "shardsPerTask => 2", "failOnDataLoss => false")) == Seq(1, 2, 3))
    assert(values(read("function_reads", "initialPosition => DATE'2020-01-01'")) == Seq(1, 2, 3))
    assert(values(read("function_reads", "endingPosition => concat('2020-', '01-01')")) == Nil)
    val twice = s"SELECT a.partitionKey FROM ${read("function_reads")} a JOIN ${read("function_reads")} b " +
      "USING (sequenceNumber) WHERE a.partitionKey <> 'k2'"
    assert(texts(twice) == Seq("k1", "k3"))
  }

  test("EXPLAIN shows the stream and no secret, and the function is described") {
    kinesis.admin.createStream("function_explained", 1)
    val secret = "roleExternalId => 'secret-of-a-test'"
    val plan = spark.sql(s"SELECT data FROM ${read("function_explained", secret)}").queryExecution
    assert(plan.explainString(org.apache.spark.sql.execution.ExplainMode.fromString("simple"))
      .contains("kinesis function_explained from trim_horizon to latest [data]"))
    Seq(plan.analyzed, plan.optimizedPlan, plan.executedPlan).foreach { shown =>
      assert(!shown.toString.contains("secret-of-a-test"))
    }
    assert(texts("DESCRIBE FUNCTION read_kinesis").exists(_.contains("Amazon Kinesis Data Streams")))
  }

  Seq(
    ("no name", "read_kinesis('orders')", "KINESIS_TABLE_FUNCTION_ARGUMENT", "Argument 1 of read_kinesis has no name"),
    (
      "NULL",
      "read_kinesis(streamName => NULL)",
      "KINESIS_TABLE_FUNCTION_ARGUMENT",
      "streamName of read_kinesis is NULL"
    ),
    ("no constant", "read_kinesis(streamName => uuid())", "KINESIS_TABLE_FUNCTION_ARGUMENT", "is not a constant"),
    ("two values", "read_kinesis(region => 'a', REGION => 'b')", "KINESIS_TABLE_FUNCTION_ARGUMENT", "is given twice"),
    ("a misspelt name", "read_kinesis(streamNme => 'orders')", "KINESIS_OPTION_UNKNOWN", "streamName"),
    ("nothing", "read_kinesis()", "KINESIS_OPTION_MISSING", "streamName"),
    (
      "an option of writes",
      "read_kinesis(streamName => 'orders', maxBatchSize => 1)",
      "KINESIS_OPTION_",
      "maxBatchSize"
    )
  ).foreach { case (name, call, condition, text) =>
    test(s"an argument with $name is an error of the statement") {
      val error = refused(spark.sql(s"SELECT * FROM $call").collect())
      assert(error.getCondition.startsWith(condition), error.getMessage)
      assert(error.getMessage.contains(text), error.getMessage)
    }
  }
}
