package org.sparkkinesis.metadata

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Random

import org.sparkkinesis.config.value.PositionOption
import org.sparkkinesis.model.{SequenceNumber, ShardId, StartingPosition, StreamRef}
import org.sparkkinesis.suite.TimedSuite

class DocumentParserSuite extends TimedSuite {
  import DocumentParserSuite._

  test("a document has every physical stream with its properties") {
    val parsed = read(Full)
    assert(parsed.version == 7)
    assert(parsed.streams.keySet == Set("orders", "clicks"))
    assert(parsed.streams("orders").head == PhysicalStream(ref(A), StreamState.Draining))
    assert(
      parsed.streams("orders")(1) == PhysicalStream(
        ref(B),
        StreamState.Active,
        Some("http://127.0.0.1:4567"),
        Some("arn:aws:iam::210987654321:role/writer"),
        Some("x"),
        Some(s"$B/consumer/c:1"),
        weight = 50,
        priority = 2,
        startAt = Some(PositionOption(StartingPosition.AtTimestamp(1767323045000L))),
        after = Set(A)
      )
    )
    assert(parsed.streams("clicks").map(_.arn) == Vector(C))
  }

  test("absent members have their defaults, and unknown ones are ignored") {
    val parsed = read(s"""{"version": 0, "owner": {"x": 1}, "streams": {"a": [{"arn": "$A", "note": "x"}]}}""")
    assert(parsed.streams("a") == Vector(PhysicalStream(ref(A))))
    assert(read("""{"version": 3, "streams": {}}""").streams.isEmpty)
  }

  test("a document that does not say clearly which streams there are is refused as a whole") {
    def one(members: String): String = s"""{"version": 1, "streams": {"a": [{"arn": "$B"}, {"arn": "$A"$members}]}}"""
    val table = Seq(
      "" -> "not JSON",
      "[]" -> "not an object",
      """{"streams": {}}""" -> "'version'",
      """{"version": -1, "streams": {}}""" -> "'version'",
      """{"version": 1.5, "streams": {}}""" -> "'version'",
      """{"version": 1}""" -> "'streams'",
      """{"version": 1, "streams": {"a": {}}}""" -> "not an array",
      """{"version": 1, "streams": {"": []}}""" -> "empty id",
      """{"version": 1, "streams": {"a": ["x"]}}""" -> "not an object",
      """{"version": 1, "streams": {"a": [{}]}}""" -> "no 'arn'",
      """{"version": 1, "streams": {"a": [{"arn": "orders"}]}}""" -> "not the ARN",
      s"""{"version": 1, "streams": {"a": [{"arn": "$A"}], "b": [{"arn": "$A"}]}}""" -> "listed twice",
      one(""", "state": "ACTIVE"""") -> "'state'",
      one(""", "state": "gone"""") -> "'state'",
      one(""", "region": "eu-west-1"""") -> "'region'",
      one(""", "endpoint": "ftp://x"""") -> "'endpoint'",
      one(""", "role": "admin"""") -> "'role'",
      one(s""", "consumerArn": "$B/consumer/c:1"""") -> "another stream",
      one(""", "weight": -1""") -> "'weight'",
      one(""", "weight": "5"""") -> "'weight'",
      one(""", "priority": 1e9""") -> "'priority'",
      one(""", "startAt": "soon"""") -> "'startAt'",
      one(""", "after": "x"""") -> "'after'",
      one(s""", "after": ["$A"]""") -> "waits for itself",
      one(""", "awsSecretKey": "x"""") -> "credentials",
      one(""", "session_token": "x"""") -> "credentials",
      """{"version": 1, "password": "x", "streams": {}}""" -> "credentials"
    )
    table.foreach { case (text, reason) =>
      val refused = DocumentParser.parse(text.getBytes(UTF_8))
      assert(refused.left.exists(_.contains(reason)), s"$text: $refused")
    }
  }

  test("streams that wait for each other are refused, and a line of them is accepted") {
    def waiting(stream: String, other: String) = s"""{"arn": "$stream", "after": ["$other"]}"""
    def document(streams: String*) =
      DocumentParser.parse(s"""{"version": 1, "streams": {"a": [${streams.mkString(",")}]}}""".getBytes(UTF_8))
    assert(document(waiting(A, B), waiting(B, A)).left.exists(_.contains("waits for itself")))
    assert(document(waiting(A, B), waiting(B, C)).isRight)
  }

  test("a logical stream may have the name of a credential") {
    assert(read(s"""{"version": 1, "streams": {"tokens": [{"arn": "$A"}]}}""").streams.contains("tokens"))
  }

  test("text that is too long or not UTF-8 is refused") {
    val long = s"""{"version": 1, "streams": {}, "x": "${"x" * DocumentParser.MaxBytes}"}"""
    assert(DocumentParser.parse(long.getBytes(UTF_8)).left.exists(_.contains("at most")))
    assert(DocumentParser.parse(Array(0xff.toByte)).left.exists(_.contains("UTF-8")))
  }

  test("a rendered document parses to the same document") {
    val positions = Seq(
      PositionOption(StartingPosition.Latest),
      PositionOption(
        StartingPosition.TrimHorizon,
        scala.collection.immutable.ListMap(
          ShardId("shardId-000000000001") -> StartingPosition.AfterSequenceNumber(SequenceNumber.parse("49").get)
        )
      )
    )
    val full = read(Full)
    (full +: positions.map(position =>
      full.copy(streams = full.streams.updated("clicks", Vector(PhysicalStream(ref(C), startAt = Some(position)))))
    )).foreach(document => assert(read(DocumentText.render(document)) == document))
  }

  test("a document that was cut or damaged has every stream or is refused") {
    val bytes = Full.getBytes(UTF_8)
    val whole = read(Full)
    val random = new Random(7)
    var accepted = 0
    (1 to 10000).foreach { round =>
      val damaged =
        if (round % 2 == 0) bytes.take(random.nextInt(bytes.length))
        else {
          val copy = bytes.clone()
          (0 to random.nextInt(3)).foreach { _ =>
            val at = random.nextInt(copy.length)
            copy(at) = (copy(at) ^ (1 << random.nextInt(8))).toByte
          }
          copy
        }
      DocumentParser.parse(damaged).foreach { document =>
        accepted += 1
        assert(document.physical.size == whole.physical.size, new String(damaged, UTF_8))
        assert(document.streams.valuesIterator.map(_.size).toSeq.sorted ==
          whole.streams.valuesIterator.map(_.size).toSeq.sorted)
      }
    }
    // Some damage concerns a value or white space only; if nothing were accepted, the test would show nothing.
    assert(accepted > 100 && accepted < 9900, accepted)
  }

  test("an external id is not shown") {
    assert(!read(Full).toString.contains("externalId") && !read(Full).streams("orders").toString.contains("x,"))
  }
}

object DocumentParserSuite {
  val A = "arn:aws:kinesis:us-east-1:123456789012:stream/orders-a"
  val B = "arn:aws:kinesis:eu-west-1:210987654321:stream/orders-b"
  val C = "arn:aws:kinesis:eu-west-1:210987654321:stream/clicks"

  val Full: String = s"""{"version": 7, "streams": {
    "orders": [
      {"arn": "$A", "state": "draining"},
      {"arn": "$B", "state": "active", "weight": 50, "priority": 2, "region": "eu-west-1",
       "endpoint": "http://127.0.0.1:4567", "role": "arn:aws:iam::210987654321:role/writer", "externalId": "x",
       "consumerArn": "$B/consumer/c:1", "startAt": "2026-01-02T03:04:05Z", "after": ["$A"]}],
    "clicks": [{"arn": "$C"}]}}"""

  def ref(arn: String): StreamRef.ByArn = StreamRef.parse(arn) match {
    case Some(parsed: StreamRef.ByArn) => parsed
    case other => throw new IllegalArgumentException(s"$arn is $other")
  }

  def read(text: String): MetadataDocument =
    DocumentParser.parse(text.getBytes(UTF_8)).fold(why => throw new IllegalArgumentException(why), identity)
}
