package org.sparkkinesis.integration.log

import scala.util.Using

import org.apache.spark.sql.functions._

import org.sparkkinesis.config.ConnectorVersion
import org.sparkkinesis.event._
import org.sparkkinesis.integration.write.SinkFixture
import org.sparkkinesis.spark.sink.invalid.OnInvalidRow

/** The log lines of a write that an operator reads. */
class WriteLogSuite extends SinkFixture {
  test("a batch write reports its settings, the column that it ignores, its invalid rows and its commit") {
    kinesis.admin.createStream("written", 1)
    val rows = spark.range(10).coalesce(1).select(
      col("id").cast("string").as("partitionKey"),
      when(col("id") === 3, lit(null)).otherwise(lit("planted-data")).as("data"),
      lit("elsewhere").as("stream")
    )
    Using.resource(new RecordedLog("stream=written")) { log =>
      writer(rows, "streamName" -> "written", "onInvalidRecord" -> "drop").save()
      assert(kinesis.admin.recordCount("written") == 9L)
      val messages = log.lines.map(_.message)
      def once(event: ConnectorEvent): Unit = assert(messages.count(_ == event.message) == 1, event)
      once(StreamColumnIgnored("written", "stream"))
      once(WritePlanned(Some("written"), "drop"))
      once(RowsInvalid("written", 0, 1, OnInvalidRow.Drop.action, "its column 'data' is null"))
      assert(
        messages.count(_.startsWith(WriteStarted(ConnectorVersion.text, Some("written"), "ordering=").message)) == 1,
        messages
      )
      val commits = (1 to 9).map(requests => BatchWritten(None, 9, requests.toLong, 0, 0).message)
      assert(messages.count(commits.contains) == 1, messages)
      log.lines.foreach(line => assert(!line.text.contains("planted"), line))
    }
  }
}
