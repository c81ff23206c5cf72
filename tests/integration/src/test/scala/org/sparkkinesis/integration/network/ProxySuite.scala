package org.sparkkinesis.integration.network

import org.apache.spark.sql.streaming.Trigger

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.kit.stream.Collected
import org.sparkkinesis.network.TestProxy

/**
 * Queries in a network whose only way out is a proxy with authentication. The name of the service is unknown outside of
 * it.
 */
class ProxySuite extends SparkSuite {
  private val host = "kinesis.example.invalid:4567"
  private lazy val proxy = new TestProxy(kinesis.port, Some("someone" -> "p@ss:word"))

  override def afterAll(): Unit = {
    super.afterAll()
    proxy.close()
  }

  private def options(stream: String): Map[String, String] = connection(stream) ++ Map(
    "endpoint" -> s"http://$host",
    "allowInsecureEndpoint" -> "true",
    "proxy" -> s"http://${proxy.address}",
    "proxyUser" -> "someone",
    "proxyPassword" -> "p@ss:word"
  )

  for (mode <- Seq("polling", "efo"))
    test(s"rows are written and read by $mode through the proxy only") {
      val stream = s"proxied-$mode"
      kinesis.admin.createStream(stream, 2)
      spark.range(200).selectExpr("CAST(id AS STRING) AS data", "CAST(id AS STRING) AS partitionKey")
        .write.format("kinesis").options(options(stream)).mode("append").save()
      val collected = new Collected
      val query = spark.readStream.format("kinesis").options(options(stream)).option("consumerMode", mode)
        .option("consumerName", "proxied").option("initialPosition", "trim_horizon").load()
        .writeStream.option("checkpointLocation", checkpoint()).trigger(Trigger.AvailableNow())
        .foreachBatch(collected.sink).start()
      assert(query.awaitTermination(60000))
      val read = collected.rows.map(row => new String(row.getAs[Array[Byte]]("data")).toInt)
      assert(read.sorted == (0 until 200).toVector)
      assert(proxy.seen().toSet == Set(host))
    }
}
