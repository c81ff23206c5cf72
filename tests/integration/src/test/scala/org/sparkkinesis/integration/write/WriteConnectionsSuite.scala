package org.sparkkinesis.integration.write

import org.apache.spark.sql.functions._

import org.sparkkinesis.emulator.{EmulatorConfig, KinesisEmulator}

/** Tests that the options alone decide where a stream is written, and not which other streams the write has. */
class WriteConnectionsSuite extends SinkFixture {

  /** Another region. Both regions have streams of all names, so that a wrong region shows as wrong records. */
  private lazy val europe = KinesisEmulator.start(EmulatorConfig(quotas = false, region = "eu-west-1"))

  override def afterAll(): Unit = {
    super.afterAll()
    europe.close()
  }

  private def inEurope(stream: String) =
    Map(s"region.$stream" -> "eu-west-1", s"endpoint.$stream" -> europe.endpoint)

  private def counts(at: KinesisEmulator, prefix: String): Map[String, Long] =
    Seq("orders", "others", "letters").map(name => name -> at.admin.recordCount(s"$prefix-$name")).toMap

  /** Ten rows for the stream of the option, ten for another stream, and five that no stream accepts. */
  private def rows(prefix: String) = spark.range(25).select(
    when(col("id") < 20, col("id").cast("string")).otherwise(lit("")).as("partitionKey"),
    lit("payload").as("data"),
    when(col("id") % 2 === 1, s"$prefix-others").as("to")
  )

  private def write(prefix: String, own: Map[String, String]): Unit = {
    for (at <- Seq(kinesis, europe); name <- Seq("orders", "others", "letters"))
      at.admin.createStream(s"$prefix-$name", 1)
    val options = Map(
      "streamName" -> s"$prefix-orders",
      "streamColumn" -> "to",
      "onInvalidRecord" -> "deadLetter",
      "deadLetterStream" -> s"$prefix-letters"
    )
    writer(rows(prefix), (options ++ own).toSeq: _*).save()
  }

  test("the options of the default stream concern no other stream") {
    write("first", inEurope("first-orders"))
    assert(counts(kinesis, "first") == Map("orders" -> 0L, "others" -> 10L, "letters" -> 5L))
    assert(counts(europe, "first") == Map("orders" -> 10L, "others" -> 0L, "letters" -> 0L))
  }

  test("a dead-letter stream and a stream of the rows are checked and written with their own options") {
    write("second", inEurope("second-letters") ++ inEurope("second-others"))
    assert(counts(kinesis, "second") == Map("orders" -> 10L, "others" -> 0L, "letters" -> 0L))
    assert(counts(europe, "second") == Map("orders" -> 0L, "others" -> 10L, "letters" -> 5L))
  }
}
