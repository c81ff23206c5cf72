package org.sparkkinesis.aws.putrecords

import java.security.MessageDigest
import java.util.HexFormat
import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.collection.immutable.ArraySeq
import scala.util.Using

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.dataformat.cbor.{CBORFactory, CBORGenerator}
import com.sun.net.httpserver.Headers

import org.sparkkinesis.aws.client.CborServer
import org.sparkkinesis.aws.client.CborServer._
import org.sparkkinesis.aws.record.CborOutput
import org.sparkkinesis.model.{SequenceNumber, ShardId, StreamRef}
import org.sparkkinesis.service.{PutEntry, PutResult, ServiceErrorKind, ServiceException}
import org.sparkkinesis.suite.TimedSuite

/** Requests that Jackson decodes, and responses that Jackson encodes. */
class PutRecordsSuite extends TimedSuite {
  private val entries = IndexedSeq(
    PutEntry("key", None, Array[Byte](1, 2, 3)),
    PutEntry("ключ €\uD83D\uDE00", Some("340282366920938463463374607431768211455"), new Array[Byte](0)),
    PutEntry("k" * 256, Some("0"), Array.tabulate(70000)(_.toByte)),
    PutEntry("k", None, new Array[Byte](255))
  )

  /** Maps become maps, arrays vectors, and byte strings sequences of bytes. */
  private def decoded(cbor: Array[Byte]): Map[String, Any] = {
    val parser = new CBORFactory().createParser(cbor)
    parser.nextToken()
    val value = next(parser).asInstanceOf[Map[String, Any]]
    assert(parser.nextToken() == null)
    value
  }

  private def next(parser: JsonParser): Any = parser.currentToken match {
    case JsonToken.START_OBJECT =>
      Iterator.continually(parser.nextToken()).takeWhile(_ != JsonToken.END_OBJECT).map { _ =>
        val name = parser.currentName
        parser.nextToken()
        name -> next(parser)
      }.toMap
    case JsonToken.START_ARRAY =>
      Iterator.continually(parser.nextToken()).takeWhile(_ != JsonToken.END_ARRAY).map(_ => next(parser)).toVector
    case JsonToken.VALUE_EMBEDDED_OBJECT => ArraySeq.unsafeWrapArray(parser.getBinaryValue)
    case _ => parser.getText
  }

  private def decoded(body: CborOutput): Map[String, Any] = decoded(body.array.take(body.length))

  private def members(entry: PutEntry): Map[String, Any] = Map[String, Any](
    "PartitionKey" -> entry.partitionKey,
    "Data" -> ArraySeq.unsafeWrapArray(entry.data)
  ) ++ entry.explicitHashKey.map("ExplicitHashKey" -> _)

  test("a request has the stream by name or ARN and all records in order") {
    val arn = "arn:aws:kinesis:us-east-1:123456789012:stream/orders"
    Seq(
      StreamRef.ByName("orders") -> ("StreamName", "orders"),
      StreamRef.parse(arn).get -> ("StreamARN", arn)
    ).foreach {
      case (stream, (name, value)) =>
        assert(decoded(PutBody.of(stream, entries)) ==
          Map[String, Any](name -> value, "Records" -> entries.map(members)))
    }
  }

  test("a request of 500 records of any size is complete") {
    val random = new scala.util.Random(7)
    (1 to 20).foreach { _ =>
      val many = IndexedSeq.fill(500) {
        val key = random.nextString(1 + random.nextInt(60)).filterNot(_.isSurrogate) + "k"
        PutEntry(key, None, random.nextBytes(random.nextInt(600)))
      }
      assert(decoded(PutBody.of(StreamRef.ByName("s"), many))("Records") == many.map(members))
    }
  }

  private def answer(more: CBORGenerator => Unit = _ => ()): Array[Byte] = cbor { json =>
    json.writeStartObject()
    json.writeNumberField("FailedRecordCount", 1)
    json.writeStringField("EncryptionType", "KMS")
    json.writeArrayFieldStart("Records")
    Seq("17", "18").foreach { number =>
      json.writeStartObject()
      json.writeStringField("SequenceNumber", number)
      json.writeStringField("ShardId", "shardId-000000000003")
      json.writeEndObject()
    }
    json.writeStartObject()
    json.writeStringField("ErrorCode", "ProvisionedThroughputExceededException")
    json.writeStringField("ErrorMessage", "Rate exceeded")
    json.writeNullField("ShardId")
    json.writeEndObject()
    json.writeEndArray()
    more(json)
    json.writeEndObject()
  }

  private val plain = answer()
  private val results = IndexedSeq(
    PutResult.Accepted(ShardId.ofIndex(3), SequenceNumber("17")),
    PutResult.Accepted(ShardId.ofIndex(3), SequenceNumber("18")),
    PutResult.Rejected("ProvisionedThroughputExceededException", "Rate exceeded")
  )

  private val json =
    """{"FailedRecordCount": 1, "EncryptionType": null, "Records": [
      |  {"SequenceNumber": "17", "ShardId": "shardId-000000000003", "ErrorCode": null},
      |  {"SequenceNumber": "18", "ShardId": "shardId-000000000003", "Later": {"a": [1]}},
      |  {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "Rate exceeded"}]}
      |""".stripMargin.trim.getBytes("UTF-8")

  private val strange = answer(CborServer.writeDeep)

  test("a response is decoded, and no part of it is") {
    assert(PutAnswer.read(plain) == results)
    (0 until plain.length).foreach(length => intercept[java.io.IOException](PutAnswer.read(plain.take(length))))
  }

  test("each record has its own shard, also among shards with names of one length, and names that are not ASCII") {
    val names = Seq("shardId-000000000001", "shardId-000000000002", "shardId-000000000001", "", "ä", "a", "Ã¤")
    val body = cbor { json =>
      json.writeStartObject()
      json.writeArrayFieldStart("Records")
      names.zipWithIndex.foreach { case (name, i) =>
        json.writeStartObject()
        json.writeStringField("ShardId", name)
        json.writeStringField("SequenceNumber", i.toString)
        json.writeEndObject()
      }
      json.writeEndArray()
      json.writeEndObject()
    }
    assert(PutAnswer.read(body) ==
      names.zipWithIndex.map { case (name, i) => PutResult.Accepted(ShardId(name), SequenceNumber(i.toString)) })
  }

  private type Outcome = Either[ServiceException, IndexedSeq[PutResult]]

  /** Returns the outcome of a call that the server answers so, and the number of requests that it received. */
  private def put(status: Int, headers: Seq[(String, String)], body: Array[Byte]): (Outcome, Int) = {
    val (outcomes, asked, _) = puts(1, status, headers, body)
    (outcomes.head, asked)
  }

  /** Returns the outcomes of consecutive calls, and the numbers of requests and connections of the server. */
  private def puts(
      calls: Int,
      status: Int,
      headers: Seq[(String, String)],
      body: Array[Byte]
  ): (IndexedSeq[Outcome], Int, Int) = {
    def check(headers: Headers, request: Array[Byte]): Unit = {
      assert(decoded(request)("Records") == entries.map(members))
      assert(headers.getFirst("Content-Type") == CborOutput.ContentType)
      assert(headers.getFirst("Content-Length") == request.length.toString)
      // The signature covers the content.
      val digest = MessageDigest.getInstance("SHA-256").digest(request)
      assert(headers.getFirst("x-amz-content-sha256") == HexFormat.of().formatHex(digest))
      ()
    }
    Using.resource(new CborServer(status, headers, body, check)) { server =>
      val outcomes = (1 to calls).map { _ =>
        try Right(server.service.putRecords(StreamRef.ByName("any"), entries).get(30, TimeUnit.SECONDS))
        catch { case failed: ExecutionException => Left(failed.getCause.asInstanceOf[ServiceException]) }
      }
      (outcomes, server.requests, server.connections)
    }
  }

  Seq[(String, Seq[(String, String)], Array[Byte])](
    ("CBOR", Seq(Cbor), plain),
    ("CBOR with its checksum", Seq(Cbor, checksum(plain)), plain),
    ("CBOR that is compressed", Seq(Cbor, Gzip), zipped(plain)),
    ("CBOR without its type", Nil, plain),
    ("JSON", Seq("Content-Type" -> "application/x-amz-json-1.1"), json),
    ("JSON of another version", Seq("Content-Type" -> "application/json; charset=utf-8"), json)
  ).foreach { case (what, headers, body) =>
    test(s"$what is decoded, and the request is sent once") {
      assert(put(200, headers, body) == (Right(results), 1))
    }
  }

  private val notFound = cbor { json =>
    json.writeStartObject()
    json.writeStringField("__type", "ResourceNotFoundException")
    json.writeStringField("message", "Stream any not found")
    json.writeEndObject()
  }

  Seq[(String, Seq[(String, String)], Array[Byte])](
    ("ends too early", Seq(Cbor), plain.dropRight(1)),
    ("is not compressed as it says", Seq(Cbor, Gzip), plain),
    ("is nested too deep", Seq(Cbor, checksum(strange)), strange),
    ("is JSON that ends too early", Seq("Content-Type" -> "application/json"), json.dropRight(1))
  ).foreach { case (what, headers, body) =>
    test(s"a response that $what counts as a lost response, because the records may be stored") {
      val (outcome, asked) = put(200, headers, body)
      assert((outcome.left.map(_.kind), asked) == (Left(ServiceErrorKind.Network), 1))
    }
  }

  test("an error response has the code, the text and the number of the request, in CBOR and in JSON") {
    val json = """{"__type":"a.b#ResourceNotFoundException","Message":"Stream any not found"}""".getBytes("UTF-8")
    Seq(
      (Seq(Cbor), notFound),
      (Seq(Cbor, Gzip), zipped(notFound)),
      (Seq("Content-Type" -> "application/x-amz-json-1.1"), json)
    ).foreach { case (headers, body) =>
      val error = put(400, headers :+ ("x-amzn-RequestId" -> "r1"), body)._1.left.toOption.get
      assert((error.kind, error.errorCode, error.detail, error.requestId) ==
        (ServiceErrorKind.ResourceNotFound, "ResourceNotFoundException", "Stream any not found", Some("r1")))
    }
  }

  test("an error without content has its status and the type of its header") {
    val unavailable = put(503, Nil, Array.emptyByteArray)._1.left.toOption.get
    assert((unavailable.kind, unavailable.errorCode) == (ServiceErrorKind.Internal, "HTTP 503"))
    val typed = Seq(Cbor, "x-amzn-ErrorType" -> "AccessDeniedException:http://any/")
    assert(put(400, typed, Array.emptyByteArray)._1.left.map(_.kind) == Left(ServiceErrorKind.AccessDenied))
  }

  test("an error response has the error of the service, and connections are used again") {
    val (outcomes, asked, connections) = puts(10, 400, Seq(Cbor), notFound)
    assert(outcomes.map(_.left.map(_.kind)) == Seq.fill(10)(Left(ServiceErrorKind.ResourceNotFound)))
    // A connection returns to the pool just after its response, when the next request may have opened another one.
    assert(asked == 10 && connections < 10)
  }

  test("a response with a wrong checksum counts as a lost response, because the records may be stored") {
    val (outcome, asked) = put(200, Seq(Cbor, checksum(strange)), plain)
    assert((outcome.left.map(_.kind), asked) == (Left(ServiceErrorKind.Network), 1))
  }
}
