package org.sparkkinesis.emulator

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.kit.JsonClient.at
import org.sparkkinesis.suite.TimedSuite

/** Amazon Data Firehose in the emulator. */
class DeliverySuite extends TimedSuite {
  private def onEmulator(config: EmulatorConfig = EmulatorConfig())(body: (KinesisEmulator, JsonClient) => Unit): Unit =
    Using.resource(
      KinesisEmulator.start(config.copy(clock = EmulatorClock.manual(1777319237000L), changeDelay = 0.seconds))
    )(emulator => body(emulator, new JsonClient(emulator.endpoint)))

  private def create(client: JsonClient, name: String, s3: String = ""): JsonClient.Reply = client.firehose(
    "CreateDeliveryStream",
    s"""{"DeliveryStreamName":"$name","ExtendedS3DestinationConfiguration":
       |{"RoleARN":"arn:aws:iam::123456789012:role/r","BucketARN":"arn:aws:s3:::bucket"$s3}}""".stripMargin
  )

  private def record(text: String): String = s"""{"Data":"${JsonClient.base64(text)}"}"""

  private def put(client: JsonClient, name: String, texts: String*): JsonClient.Reply = client.firehose(
    "PutRecordBatch",
    s"""{"DeliveryStreamName":"$name","Records":[${texts.map(record).mkString(",")}]}"""
  )

  private def files(folder: Path): Seq[Path] =
    Using.resource(Files.walk(folder))(_.iterator.asScala.filter(Files.isRegularFile(_)).toVector.sorted)

  private def texts(folder: Path): Seq[String] = files(folder).map(file => new String(Files.readAllBytes(file), UTF_8))

  test("records are in a file of the bucket's folder, one after the other, when their put is answered") {
    onEmulator() { (emulator, client) =>
      assert(create(client, "s", ""","Prefix":"orders/in-"""").status == 200)
      val reply = put(client, "s", "a\n", "b\n")
      assert(reply.status == 200 && at(reply.json, "FailedPutCount") == 0L, reply.text)
      assert(at(reply.json, "RequestResponses", 0, "RecordId") != at(reply.json, "RequestResponses", 1, "RecordId"))
      val single = client.firehose("PutRecord", s"""{"DeliveryStreamName":"s","Record":${record("c\n")}}""")
      assert(single.status == 200)
      val found = files(emulator.deliveryFolder)
      assert(emulator.deliveryFolder.relativize(found.head).startsWith("bucket/orders/in-2026/04/27/19"))
      assert(texts(emulator.deliveryFolder) == Seq("a\nb\nc\n"))
      assert(emulator.admin.deliveredRecords("s") == 3)
    }
  }

  test("a file ends at the age of the buffering hints") {
    onEmulator() { (emulator, client) =>
      create(client, "s", ""","BufferingHints":{"SizeInMBs":1,"IntervalInSeconds":60}""")
      put(client, "s", "a")
      emulator.admin.advanceClock(59999)
      put(client, "s", "b")
      emulator.admin.advanceClock(1)
      put(client, "s", "c")
      assert(texts(emulator.deliveryFolder) == Seq("ab", "c"))
    }
  }

  test("a prefix cannot leave the folder of its bucket") {
    onEmulator() { (emulator, client) =>
      assert(create(client, "s", ""","Prefix":"../../../outside/"""").status == 200)
      put(client, "s", "a")
      assert(texts(emulator.deliveryFolder.resolve("bucket")) == Seq("a"))
    }
  }

  test("a temporary folder ends with the emulator, a configured one stays") {
    val kept = Files.createTempDirectory("deliveries")
    val temporary = onEmulatorsFolder(EmulatorConfig())
    assert(!Files.exists(temporary))
    assert(onEmulatorsFolder(EmulatorConfig(deliveries = Some(kept))) == kept)
    assert(texts(kept) == Seq("a"))
  }

  private def onEmulatorsFolder(config: EmulatorConfig): Path = {
    var folder: Path = null
    onEmulator(config) { (emulator, client) =>
      emulator.admin.createDeliveryStream("s")
      put(client, "s", "a")
      folder = emulator.deliveryFolder
    }
    folder
  }

  test("malformed requests fail with the errors of the service") {
    onEmulator() { (_, client) =>
      create(client, "s")
      def error(operation: String, body: String): String = client.firehose(operation, body).errorType
      val tooMany = Seq.fill(501)(record("x")).mkString(",")
      val tooLarge = record("x" * (1000 * 1024 + 1))
      val tooManyBytes = Seq.fill(5)(record("x" * 900 * 1024)).mkString(",")
      val cases = Seq(
        "PutRecordBatch" -> s"""{"DeliveryStreamName":"s","Records":[$tooMany]}""" -> "ValidationException",
        "PutRecordBatch" -> s"""{"DeliveryStreamName":"s","Records":[$tooLarge]}""" -> "ValidationException",
        "PutRecordBatch" -> """{"DeliveryStreamName":"s","Records":[]}""" -> "ValidationException",
        "PutRecordBatch" -> """{"DeliveryStreamName":"s","Records":[{}]}""" -> "ValidationException",
        "PutRecordBatch" -> """{"DeliveryStreamName":"s"}""" -> "ValidationException",
        "PutRecordBatch" -> s"""{"DeliveryStreamName":"s","Records":[$tooManyBytes]}""" -> "InvalidArgumentException",
        "PutRecordBatch" -> s"""{"DeliveryStreamName":"t","Records":[${record(
            "x"
          )}]}""" -> "ResourceNotFoundException",
        "PutRecord" -> """{"DeliveryStreamName":"s"}""" -> "ValidationException",
        "DescribeDeliveryStream" -> """{"DeliveryStreamName":"t"}""" -> "ResourceNotFoundException",
        "CreateDeliveryStream" -> """{"DeliveryStreamName":"t"}""" -> "InvalidArgumentException",
        "CreateDeliveryStream" -> """{"DeliveryStreamName":"a b"}""" -> "ValidationException",
        "PutRecords" -> """{"StreamName":"s"}""" -> "UnknownOperationException"
      )
      cases.foreach { case ((operation, body), expected) =>
        assert(error(operation, body) == expected, s"$operation ${body.take(80)}")
      }
      assert(create(client, "s").errorType == "ResourceInUseException")
    }
  }

  test("bytes above the quota of the region are refused record by record until the quota refills") {
    onEmulator(EmulatorConfig(region = "eu-central-1")) { (emulator, client) =>
      create(client, "s")
      val halfMiB = "x" * (512 * 1024)
      val reply = put(client, "s", halfMiB, halfMiB, halfMiB).json
      assert(at(reply, "FailedPutCount") == 1L)
      assert(at(reply, "RequestResponses", 2, "ErrorCode") == "ServiceUnavailableException")
      assert(at(reply, "RequestResponses", 2, "ErrorMessage") == "Slow down.")
      emulator.admin.advanceClock(1000)
      assert(at(put(client, "s", halfMiB, halfMiB).json, "FailedPutCount") == 0L)
    }
  }

  test("requests above the quota fail with ServiceUnavailableException") {
    onEmulator() { (emulator, client) =>
      create(client, "s")
      emulator.admin.scaleQuota("deliveryRequests", 0.001)
      assert((1 to 3).map(_ => put(client, "s", "x").status) == Vector(200, 200, 503))
    }
  }

  test("a fault fails single records, which are not delivered") {
    onEmulator() { (emulator, client) =>
      create(client, "s")
      emulator.admin.addFault(
        """{"effect":"failEntries","operation":"PutRecordBatch","stream":"s","skip":1,"count":1}"""
      )
      val reply = put(client, "s", "a", "b", "c").json
      assert(at(reply, "FailedPutCount") == 1L && at(reply, "RequestResponses", 1, "ErrorCode") == "InternalFailure")
      assert(texts(emulator.deliveryFolder) == Seq("ac"))
      assert(emulator.calls.count("PutRecordBatch", "s", result = "ok") == 1)
    }
  }

  test("delivery streams are described, listed page by page, and deleted") {
    onEmulator() { (_, client) =>
      Seq("a", "b", "c").foreach(create(client, _))
      val described = client.firehose("DescribeDeliveryStream", """{"DeliveryStreamName":"b"}""").json
      assert(at(described, "DeliveryStreamDescription", "DeliveryStreamStatus") == "ACTIVE")
      val arn = "arn:aws:firehose:us-east-1:123456789012:deliverystream/b"
      assert(at(described, "DeliveryStreamDescription", "DeliveryStreamARN") == arn)
      def page(body: String): Any = client.firehose("ListDeliveryStreams", body).json
      assert(at(page("""{"Limit":2}"""), "DeliveryStreamNames") == Vector("a", "b"))
      assert(at(page("""{"Limit":2}"""), "HasMoreDeliveryStreams") == true)
      assert(at(page("""{"ExclusiveStartDeliveryStreamName":"b"}"""), "DeliveryStreamNames") == Vector("c"))
      assert(client.firehose("DeleteDeliveryStream", """{"DeliveryStreamName":"b"}""").status == 200)
      assert(at(page("{}"), "DeliveryStreamNames") == Vector("a", "c"))
    }
  }
}
