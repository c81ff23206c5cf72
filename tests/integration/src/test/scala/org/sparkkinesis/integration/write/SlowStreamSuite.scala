package org.sparkkinesis.integration.write

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** Tests that a stream that accepts records fails no write, however long the rows wait for its capacity. */
class SlowStreamSuite extends SinkFixture {
  override protected def master: String = "local[4]"
  override protected def quotas: Boolean = true

  /** Six seconds of the write capacity of a shard, and less than a delivery timeout for each task alone. */
  private def rows: DataFrame = spark.range(0, 60, 1, 4).select(
    when(col("id") % 2 === 0, "hot").otherwise(col("id").cast("string")).as("partitionKey"),
    rpad(col("id").cast("string"), 100 * 1024, ".").as("data")
  )

  Seq(
    "without order" -> Map.empty[String, String],
    "with a hot key in order" -> Map("ordering" -> "key"),
    "with aggregation" -> Map("aggregation" -> "true")
  ).foreach { case (what, options) =>
    test(s"four tasks on one shard wait longer than the delivery timeout, $what") {
      val stream = what.replace(' ', '-')
      kinesis.admin.createStream(stream, 1)
      val limits = Map("streamName" -> stream, "deliveryTimeout" -> "2s", "maxBufferedBytes" -> "1m")
      val began = System.nanoTime()
      writer(rows, (limits ++ options).toSeq: _*).save()
      assert(System.nanoTime() - began > 3000000000L, "the rows must wait longer than the delivery timeout")
      assert(read(stream).map(_._2.takeWhile(_ != '.').toInt).sorted == (0 until 60))
    }
  }
}
