package org.sparkkinesis.spark.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.sparkkinesis.concurrent.SystemClock
import org.sparkkinesis.config.Options
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.json.Json
import org.sparkkinesis.sink.kinesis.put.SinkRecord
import org.sparkkinesis.spark.sink.invalid.{InvalidRow, OnInvalidRow}
import org.sparkkinesis.spark.sink.{DataColumn, SinkWrite, SinkWriterFactory, TaskShare}
import org.sparkkinesis.suite.TimedSuite

class RowToRecordSuite extends TimedSuite {
  private val full = new StructType()
    .add("Data", BinaryType)
    .add("partitionkey", StringType)
    .add("explicitHashKey", StringType)
    .add("stream", StringType)
    .add("user", StringType)
    .add("amount", LongType)

  private def options(set: (String, String)*): Options = Options.read(set.toMap)
  private def columns(schema: StructType, set: (String, String)*): WriteColumns =
    WriteColumns.of(schema, options(set: _*))
  private def refused(schema: StructType, set: (String, String)*): KinesisConnectorException =
    intercept[KinesisConnectorException](columns(schema, set: _*))

  private def row(
      data: Any,
      key: String,
      hash: String = null,
      stream: String = null,
      user: String = "u",
      amount: Long = 1
  ) = {
    def text(value: String) = if (value == null) null else UTF8String.fromString(value)
    InternalRow(data, text(key), text(hash), text(stream), text(user), amount)
  }

  test("columns are found by name without regard to case, data as binary or string") {
    val found = columns(full)
    assert(found == WriteColumns(DataColumn(0, isText = false), KeySource.Column(1), Some(2), Some(3)))
    val text = new StructType().add("data", StringType).add("partitionKey", StringType)
    assert(columns(text) == WriteColumns(DataColumn(0, isText = true), KeySource.Column(1), None, None))
  }

  test("the option 'streamColumn' selects the column with the stream of each row") {
    assert(columns(full, "streamColumn" -> "User").stream == Some(4))
    assert(columns(full, "streamColumn" -> "user", "streamName" -> "orders").stream == Some(4))
    assert(refused(full, "streamColumn" -> "usr").condition == "KINESIS_SINK_COLUMN_MISSING")
    assert(refused(full, "streamColumn" -> "amount").condition == "KINESIS_SINK_COLUMN_TYPE")
  }

  test("a column 'stream' is ignored if options name the stream, as in a copy of a stream") {
    val arn = "arn:aws:kinesis:us-east-1:000000000000:stream/b"
    Seq("streamName" -> "b", "streamARN" -> arn).foreach { named =>
      assert(columns(full, named).stream == None)
      assert(WriteColumns.ignoredStream(full, options(named)) == Some("stream"))
      assert(WriteColumns.ignoredStream(full, options(named, "streamColumn" -> "stream")) == None)
      assert(columns(full, named, "streamColumn" -> "stream").stream == Some(3))
    }
    assert(WriteColumns.ignoredStream(full, options()) == None)
  }

  test("the option 'partitionKey' overrides the column") {
    assert(columns(full, "partitionKey" -> "user").key == KeySource.Column(4))
    assert(columns(full, "partitionKey" -> "random").key == KeySource.Random)
  }

  test("a schema that cannot be written is an error with a condition, before the write starts") {
    val noData = new StructType().add("partitionKey", StringType)
    val noKey = new StructType().add("data", StringType).add("user", StringType)
    val cases = Seq(
      refused(noData).condition -> "KINESIS_SINK_COLUMN_MISSING",
      refused(noKey).condition -> "KINESIS_SINK_COLUMN_MISSING",
      refused(full.add("x", LongType), "partitionKey" -> "x").condition -> "KINESIS_SINK_COLUMN_TYPE",
      refused(new StructType().add("data", LongType).add("partitionKey", StringType)).condition ->
        "KINESIS_SINK_COLUMN_TYPE",
      refused(new StructType().add("data", StringType).add("partitionKey", LongType)).condition ->
        "KINESIS_SINK_COLUMN_TYPE",
      refused(noKey, "partitionKey" -> "usr").condition -> "KINESIS_SINK_KEY_EXPRESSION",
      refused(noKey, "partitionKey" -> "hash()").condition -> "KINESIS_SINK_KEY_EXPRESSION",
      refused(noKey, "partitionKey" -> "hash(user, nobody)").condition -> "KINESIS_SINK_KEY_EXPRESSION",
      refused(noKey.add("m", MapType(StringType, StringType)), "partitionKey" -> "hash(m)").condition ->
        "KINESIS_SINK_KEY_EXPRESSION"
    )
    cases.foreach { case (found, expected) => assert(found == expected) }
    assert(refused(noKey, "partitionKey" -> "usr").getMessage.contains("Did you mean 'user'?"))
  }

  test("a row becomes a record with its key, its payload copied, its explicit hash key and its stream") {
    val convert = new RowToRecord(columns(full))
    val payload = Array[Byte](1, 2, 3)
    val values = row(payload, "k", "42", "other")
    val record = convert.convert(values).getOrElse(fail("no record"))
    payload(0) = 9
    assert(
      (record.partitionKey, record.explicitHashKey, record.data.toSeq) ==
        ("k", Some("42"), Seq[Byte](1, 2, 3))
    )
    assert(convert.streamOf(values) == Some("other"))
    assert(convert.streamOf(row(payload, "k")) == None)
  }

  test("rows without payload or key give a reason instead of a record") {
    val convert = new RowToRecord(columns(full))
    assert(convert.convert(row(null, "k")).left.toOption == Some("its column 'data' is null"))
    assert(convert.convert(row(Array[Byte](), null)).left.toOption == Some("its partition key is null"))
  }

  test("a hashed key is the same for equal values and different for others; a random key is new for each row") {
    val hashed = new RowToRecord(columns(full, "partitionKey" -> "hash(user, amount)"))
    def key(convert: RowToRecord, user: String, amount: Long) =
      convert.convert(row(Array[Byte](), null, user = user, amount = amount)).getOrElse(fail("no record")).partitionKey
    assert(key(hashed, "ann", 1) == key(hashed, "ann", 1))
    assert((1 to 1000).map(i => key(hashed, "ann", i.toLong)).distinct.size == 1000)
    val random = new RowToRecord(columns(full, "partitionKey" -> "random"))
    assert((1 to 1000).map(_ => key(random, "ann", 1)).distinct.size == 1000)
  }

  test("a dead letter contains reason and position, and truncates a payload that is too long for the stream") {
    val record = new SinkRecord("key", None, Array.fill[Byte](2 << 20)(7))
    val letter = DeadLetter.of(
      InvalidRow(3, 17, "orders", "it is too large", Some(record.partitionKey), Some(record.data)),
      "query",
      1 << 20
    )
    assert(letter.size <= (1 << 20))
    val body = Json.parse(new String(letter.data, "UTF-8")).fold(fail(_), identity)
    def text(name: String) = body.field(name).flatMap(_.asString)
    assert(
      (text("reason"), text("stream"), text("partitionKey")) ==
        (Some("it is too large"), Some("orders"), Some("key"))
    )
    assert((body.field("row"), body.field("dataBytes")) == (Some(Json.num(17)), Some(Json.num(2L << 20))))
    assert(body.field("truncated") == Some(Json.Bool(true)))
    val small = DeadLetter.of(
      InvalidRow(3, 17, "orders", "its key is empty", Some(""), Some("text".getBytes)),
      "query",
      1 << 20
    )
    val kept = Json.parse(new String(small.data, "UTF-8")).toOption.flatMap(_.field("data")).flatMap(_.asString)
    assert(kept.map(data => new String(java.util.Base64.getDecoder.decode(data))) == Some("text"))
  }

  test("the text of the plan contains no secret") {
    val plan = WritePlan(
      columns(full),
      RowOrder(Nil, Nil),
      None,
      OnInvalidRow.Fail,
      org.sparkkinesis.aws.client.ClientSettings.of(
        Some("eu-central-1"),
        None,
        org.sparkkinesis.aws.client.CredentialSettings.Static("AKIAEXAMPLE", "very-secret", Some("tok-secret"))
      ),
      org.sparkkinesis.sink.kinesis.KinesisSinkSettings.of(Options.defaults),
      "query"
    )
    val write = new SinkWrite(plan, KinesisSink.newProgress(SystemClock))
    val text = s"$plan ${write.description} ${new SinkWriterFactory(plan, TaskShare(1024, 1))}"
    assert(!text.contains("-secret"), text)
    val bytes = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(bytes).writeObject(new SinkWriterFactory(plan, TaskShare(1024, 1)))
    assert(bytes.size > 0)
  }

  test("Spark can create every metric from its class name, and metric names are unique") {
    KinesisSink.metrics.foreach(metric => assert(metric.getClass.getConstructor().newInstance().name == metric.name))
    assert(KinesisSink.metrics.map(_.name).distinct.size == KinesisSink.metrics.size)
  }
}
