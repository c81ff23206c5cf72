package org.sparkkinesis.integration.other

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.integration.SparkSuite

/** The connector needs no registration of classes if the application uses Kryo and requires it. */
class KryoSuite extends SparkSuite {
  override protected def settings: Map[String, String] = Map(
    "spark.serializer" -> "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrationRequired" -> "true"
  )

  /** Creates a stream with 100 records, and one without. */
  private def newStreams(suffix: String): (String, String) = {
    val (from, to) = (s"from$suffix", s"to$suffix")
    Seq(from, to).foreach(kinesis.admin.createStream(_, 2))
    (1 to 100).foreach(n => kinesis.admin.putRecord(from, s"key-$n", s"value $n".getBytes("UTF-8")))
    (from, to)
  }

  private val ordered = Seq("ordering" -> "key", "orderBy" -> "sequenceNumber")

  for ((how, options) <- Seq("" -> Nil, ", with a shuffle by key" -> ordered))
    test(s"a stream is copied from the source to the sink$how, with dead letters in a table") {
      val (from, to) = newStreams(s"-${options.size}")
      val letters = s"letters_${options.size}"
      spark.sql(
        s"CREATE TABLE $letters (reason STRING, stream STRING, queryId STRING, epochId BIGINT, partition INT, " +
          "row BIGINT, partitionKey STRING, data BINARY, dataBytes BIGINT) USING parquet"
      )
      val rows = readStream(from).load().selectExpr(
        "if(partitionKey = 'key-7', '', partitionKey) AS partitionKey",
        "data",
        "sequenceNumber"
      )
      val query = rows.writeStream.format("kinesis").options(writeOptions(to) ++ options).options(Map(
        "onInvalidRecord" -> "deadLetter",
        "deadLetterTable" -> letters,
        "checkpointLocation" -> checkpoint()
      )).trigger(Trigger.AvailableNow()).start()
      query.awaitTermination()
      assert(kinesis.admin.recordCount(to) == 99)
      assert(spark.table(letters).count() == 1)
    }

  test("a batch read and a batch write") {
    val (from, to) = newStreams("-of-batch")
    val rows = spark.read.format("kinesis").options(readOptions(from)).load()
    rows.select("partitionKey", "data").write.format("kinesis").options(writeOptions(to)).mode("append").save()
    assert(kinesis.admin.recordCount(to) == 100)
  }
}
