package org.sparkkinesis.integration.dynamic

import java.nio.file.{Files, StandardCopyOption}

import org.apache.spark.sql.DataFrame

import org.sparkkinesis.integration.SparkSuite
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.stream.Collected

/** The metadata column `streamId` of queries that read logical streams. */
class LogicalIdSuite extends SparkSuite {
  private lazy val document = temporary.resolve("streams.json")

  private def publish(version: Int, streams: (String, Seq[String])*): Unit = {
    val members = streams.map { case (id, arns) => id -> arns.map(arn => Json.obj("arn" -> Json.Str(arn))).toVector }
    val text = Json.render(Json.obj(
      "version" -> Json.num(version.toLong),
      "streams" -> Json.obj(members.map { case (id, all) => id -> Json.Arr(all) }: _*)
    ))
    val next = Files.writeString(temporary.resolve("next.json"), text)
    Files.move(next, document, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING): Unit
  }

  private def options: Map[String, String] = connection("x") - "streamName" ++ Map(
    "metadataService" -> s"file:$document",
    "metadataRefreshInterval" -> "1s",
    "initialPosition" -> "trim_horizon",
    "minFetchPeriod" -> "20ms"
  )

  private def create(stream: String): String = kinesis.admin.createStream(stream, 1)

  private def put(stream: String, texts: String*): Unit =
    texts.foreach(text => kinesis.admin.putRecord(stream, text, utf8(text)): Unit)

  private def ids(rows: DataFrame): Set[(String, String)] =
    rows.selectExpr("CAST(data AS STRING)", "streamId").collect().map(row => row.getString(0) -> row.getString(1)).toSet

  test("each row has the id of its logical stream, in a batch and in a stream whose streams change") {
    val (a, b, c) = (create("id-a"), create("id-b"), create("id-c"))
    put("id-a", "1")
    put("id-b", "2")
    publish(1, "orders" -> Seq(a), "clicks" -> Seq(b))
    val batch = spark.read.format("kinesis").options(options + ("streamId" -> "orders,clicks")).load()
    assert(ids(batch) == Set("1" -> "orders", "2" -> "clicks"))
    assert(batch.columns.toSeq == spark.read.format("kinesis").options(connection("id-a")).load().columns.toSeq)

    val collected = new Collected
    val query = spark.readStream.format("kinesis").options(options + ("streamIdPattern" -> "orders|clicks")).load()
      .select("data", "streamId").writeStream.option("checkpointLocation", checkpoint())
      .foreachBatch(collected.sink).start()
    await(query, "the first streams")(collected.rows.size >= 2)
    put("id-c", "3")
    publish(2, "orders" -> Seq(a), "clicks" -> Seq(b, c))
    await(query, "the stream that joined")(collected.rows.size >= 3)
    publish(3, "orders" -> Seq(a), "clicks" -> Seq(c))
    put("id-b", "4")
    await(query, "a stream that is drained")(collected.rows.size >= 4)
    query.stop()
    val seen = collected.rows.map(row => Collected.text(row) -> row.getAs[String]("streamId")).toSet
    assert(seen == Set("1" -> "orders", "2" -> "clicks", "3" -> "clicks", "4" -> "clicks"))
  }

  test("a query without logical streams has no id") {
    kinesis.admin.createStream("plain", 1)
    put("plain", "1", "2")
    val rows = spark.read.format("kinesis").options(readOptions("plain")).load()
    assert(ids(rows) == Set("1" -> null, "2" -> null))
    val collected = new Collected
    val query = readStream("plain").load().select("data", "streamId").writeStream
      .option("checkpointLocation", checkpoint()).foreachBatch(collected.sink).start()
    await(query, "2 rows")(collected.rows.size >= 2)
    assert(collected.rows.forall(_.isNullAt(1)))
  }
}
