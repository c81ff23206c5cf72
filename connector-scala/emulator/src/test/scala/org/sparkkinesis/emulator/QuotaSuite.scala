package org.sparkkinesis.emulator

import scala.concurrent.duration._

import org.sparkkinesis.emulator.engine.time.EmulatorClock
import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.kit.JsonClient.at
import org.sparkkinesis.suite.TimedSuite

class QuotaSuite extends TimedSuite {
  private val mebibyte = 1024 * 1024

  private def onEmulator(config: EmulatorConfig =
    EmulatorConfig())(body: (KinesisEmulator, JsonClient) => Unit): Unit = {
    val emulator =
      KinesisEmulator.start(config.copy(clock = EmulatorClock.manual(1777319237000L), changeDelay = 0.seconds))
    try {
      emulator.admin.createStream("s", 1)
      body(emulator, new JsonClient(emulator.endpoint))
    } finally emulator.close()
  }

  private def entry(bytes: Int): String = s"""{"Data":"${JsonClient.base64("x" * bytes)}","PartitionKey":"k"}"""
  private def put(client: JsonClient, entries: String*): Any =
    client.ok("PutRecords", s"""{"StreamName":"s","Records":[${entries.mkString(",")}]}""")

  private def iterator(client: JsonClient): String = at(
    client.ok(
      "GetShardIterator",
      """{"StreamName":"s","ShardId":"shardId-000000000000","ShardIteratorType":"TRIM_HORIZON"}"""
    ),
    "ShardIterator"
  ).toString

  test("of five 1 MB records in one call, one is accepted and four are throttled individually") {
    onEmulator() { (_, client) =>
      val reply = put(client, Seq.fill(5)(entry(1000 * 1000)): _*)
      assert(at(reply, "FailedRecordCount") == 4L)
      assert(at(reply, "Records", 0, "SequenceNumber") != null)
      assert(at(reply, "Records", 1, "ErrorCode") == "ProvisionedThroughputExceededException")
      assert(
        at(reply, "Records", 1, "ErrorMessage") ==
          "Rate exceeded for shard shardId-000000000000 in stream s under account 123456789012."
      )
    }
  }

  test("a shard accepts 1,000 records per second, and another 1,000 one second later") {
    onEmulator() { (emulator, client) =>
      def failed(reply: Any): Long = at(reply, "FailedRecordCount").asInstanceOf[Long]
      val batch = Seq.fill(500)(entry(1))
      assert((1 to 3).map(_ => failed(put(client, batch: _*))) == Vector(0L, 0L, 500L))
      emulator.admin.advanceClock(1000)
      assert((1 to 3).map(_ => failed(put(client, batch: _*))) == Vector(0L, 0L, 500L))
    }
  }

  test("a shard accepts five GetRecords calls per second") {
    onEmulator() { (_, client) =>
      val from = iterator(client)
      val results = (1 to 7).map(_ => client.call("GetRecords", s"""{"ShardIterator":"$from"}""").status)
      assert(results == Vector(200, 200, 200, 200, 200, 400, 400))
    }
  }

  test("after an answer of 10 MiB, reads are throttled until the excess is refilled at 2 MiB/s") {
    onEmulator() { (emulator, client) =>
      val data = new Array[Byte](mebibyte - 1)
      (1 to 10).foreach(_ => emulator.admin.putRecord("s", "k", data))
      val from = iterator(client)
      def read(): JsonClient.Reply = client.call("GetRecords", s"""{"ShardIterator":"$from"}""")
      assert(read().status == 200)
      // Two MiB were available, so eight MiB have to be refilled.
      emulator.admin.advanceClock(3900)
      val refused = read()
      assert(refused.errorType == "ProvisionedThroughputExceededException")
      assert(
        at(refused.json, "message") ==
          "Rate exceeded for Shard - 123456789012/s/shardId-000000000000"
      )
      emulator.admin.advanceClock(200)
      assert(read().status == 200)
    }
  }

  test("control-plane calls above their rate fail with LimitExceeded until the limit refills") {
    onEmulator() { (emulator, client) =>
      def describe(): String = client.call("DescribeStream", """{"StreamName":"s"}""").errorType
      assert((1 to 10).map(_ => describe()).toSet == Set(""))
      assert(describe() == "LimitExceededException")
      emulator.admin.advanceClock(100)
      assert(describe() == "")
    }
  }

  test("the twenty-first consumer of a stream fails with LimitExceeded") {
    onEmulator() { (emulator, client) =>
      def register(i: Int): String = {
        emulator.admin.advanceClock(1000)
        client
          .call(
            "RegisterStreamConsumer",
            s"""{"StreamARN":"arn:aws:kinesis:us-east-1:123456789012:stream/s","ConsumerName":"c$i"}"""
          )
          .errorType
      }
      assert((1 to 20).map(register).toSet == Set(""))
      assert(register(21) == "LimitExceededException")
    }
  }

  test("iterators expire after five minutes and tokens after three hundred seconds") {
    onEmulator() { (emulator, client) =>
      val from = iterator(client)
      emulator.admin.updateShardCount("s", 3)
      val token = at(client.ok("ListShards", """{"StreamName":"s","MaxResults":1}"""), "NextToken")
      emulator.admin.advanceClock(300001)
      assert(client.call("GetRecords", s"""{"ShardIterator":"$from"}""").errorType == "ExpiredIteratorException")
      assert(client.call("ListShards", s"""{"NextToken":"$token"}""").errorType == "ExpiredNextTokenException")
    }
  }

  test("records expire after the retention period, and a closed shard with them") {
    onEmulator() { (emulator, client) =>
      emulator.admin.putRecord("s", "k", "old".getBytes)
      emulator.admin.splitShard("s", "shardId-000000000000")
      assert(emulator.admin.records("s").size == 1)
      emulator.admin.advanceClock(24.hours.toMillis + 1)
      assert(emulator.admin.records("s").size == 0)
      val shards = at(client.ok("ListShards", """{"StreamName":"s"}"""), "Shards").asInstanceOf[Vector[Any]]
      assert(shards.map(at(_, "ShardId")) == Vector[Any]("shardId-000000000001", "shardId-000000000002"))
    }
  }

  test("expired records do not return when the retention period is increased") {
    onEmulator() { (emulator, client) =>
      emulator.admin.putRecord("s", "k", "old".getBytes)
      emulator.admin.advanceClock(24.hours.toMillis + 1)
      emulator.admin.putRecord("s", "k", "new".getBytes)
      client.ok("IncreaseStreamRetentionPeriod", """{"StreamName":"s","RetentionPeriodHours":48}""")
      assert(emulator.admin.records("s").map(r => new String(r.data)) == Vector("new"))
      emulator.admin.advanceClock(25.hours.toMillis)
      assert(emulator.admin.records("s").size == 1)
    }
  }

  test("an on-demand stream throttles excess records and doubles its shards fifteen minutes later") {
    onEmulator() { (emulator, client) =>
      client.ok("CreateStream", """{"StreamName":"od","StreamModeDetails":{"StreamMode":"ON_DEMAND"}}""")
      assert(emulator.admin.shards("od").size == 4)
      val entries = Seq.fill(3)(entry(1000 * 1000)).mkString(",")
      val reply = client.ok("PutRecords", s"""{"StreamName":"od","Records":[$entries]}""")
      assert(at(reply, "FailedRecordCount") == 2L)
      emulator.admin.advanceClock(15.minutes.toMillis)
      assert(emulator.admin.shards("od").count(_.isOpen) == 8)
    }
  }

  test("each quota can be scaled or switched off individually") {
    onEmulator() { (emulator, client) =>
      emulator.admin.scaleQuota("getRecordsCalls", 2)
      val from = iterator(client)
      def read(): Int = client.call("GetRecords", s"""{"ShardIterator":"$from"}""").status
      assert((1 to 12).map(_ => read()).count(_ == 200) == 10)
      emulator.admin.scaleQuota("getRecordsCalls", 0)
      assert((1 to 12).map(_ => read()).count(_ == 200) == 12)
    }
  }

  test("without quotas no call is throttled") {
    onEmulator(EmulatorConfig(quotas = false)) { (_, client) =>
      val reply = put(client, Seq.fill(5)(entry(1000 * 1000)): _*)
      assert(at(reply, "FailedRecordCount") == 0L)
    }
  }
}
