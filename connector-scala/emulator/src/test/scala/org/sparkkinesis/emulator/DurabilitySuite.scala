package org.sparkkinesis.emulator

import java.nio.file.{Files, Path, StandardOpenOption}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalactic.source

import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.suite.TimedSuite

class DurabilitySuite extends TimedSuite {
  private def testWithDirectory(name: String)(body: Path => Any)(implicit position: source.Position): Unit =
    test(name) {
      val path = Files.createTempDirectory("kinesis-emulator")
      try body(path)
      finally Files.walk(path).iterator.asScala.toVector.reverse.foreach(Files.delete)
    }

  private def run[A](path: Path)(body: (KinesisEmulator, JsonClient) => A): A = {
    val emulator =
      KinesisEmulator.start(EmulatorConfig(directory = Some(path), changeDelay = 0.seconds, quotas = false))
    try body(emulator, new JsonClient(emulator.endpoint))
    finally emulator.close()
  }

  private def state(emulator: KinesisEmulator): Any = (
    emulator.admin.shards("s"),
    emulator.admin.records("s").map(r => (r.sequenceNumber, r.partitionKey, r.arrivalMillis, new String(r.data)))
  )

  testWithDirectory("streams, lineage, records, tags and consumers are restored after a restart") { path =>
    val before = run(path) { (emulator, client) =>
      emulator.admin.createStream("s", 2)
      (1 to 500).foreach(i => emulator.admin.putRecord("s", s"key $i", s"text $i".getBytes))
      emulator.admin.splitShard("s", "shardId-000000000000")
      emulator.admin.putRecord("s", "later", "after the split".getBytes)
      client.ok("AddTagsToStream", """{"StreamName":"s","Tags":{"team":"data"}}""")
      client.ok(
        "RegisterStreamConsumer",
        """{"StreamARN":"arn:aws:kinesis:us-east-1:123456789012:stream/s","ConsumerName":"c"}"""
      )
      state(emulator)
    }
    run(path) { (emulator, client) =>
      assert(state(emulator) == before)
      assert(
        client.call("ListTagsForStream", """{"StreamName":"s"}""").text ==
          """{"Tags":[{"Key":"team","Value":"data"}],"HasMoreTags":false}"""
      )
      val consumers =
        client.ok("ListStreamConsumers", """{"StreamARN":"arn:aws:kinesis:us-east-1:123456789012:stream/s"}""")
      assert(JsonClient.at(consumers, "Consumers", 0, "ConsumerStatus") == "ACTIVE")
      val next = emulator.admin.putRecord("s", "later", "new".getBytes)
      assert(emulator.admin.records("s").map(_.sequenceNumber).distinct.size == 502, next)
    }
  }

  testWithDirectory("an incomplete record of a killed process is dropped, and later records are complete") { path =>
    run(path) { (emulator, _) =>
      emulator.admin.createStream("s", 1)
      (1 to 3).foreach(i => emulator.admin.putRecord("s", "k", s"$i".getBytes))
    }
    val log = Files.walk(path).iterator.asScala.find(_.toString.endsWith(".log")).get
    Files.write(log, Array[Byte](0, 0, 0, 0, 0, 0, 0, 9, 1), StandardOpenOption.APPEND)
    run(path) { (emulator, _) => emulator.admin.putRecord("s", "k", "4".getBytes); () }
    run(path) { (emulator, _) =>
      assert(emulator.admin.records("s").map(r => new String(r.data)) == Vector("1", "2", "3", "4"))
    }
  }

  Seq(".", "..", "a.b", "Orders", "x" * 128).foreach { name =>
    testWithDirectory(s"a stream named '${name.take(10)}' is stored inside the directory, and only it is deleted") {
      path =>
        val inside = Files.createDirectory(path.resolve("emulator"))
        run(inside) { (emulator, _) =>
          Seq(name, "orders").foreach { stream =>
            emulator.admin.createStream(stream, 1)
            emulator.admin.putRecord(stream, "k", stream.getBytes)
          }
        }
        assert(Files.list(path).iterator.asScala.toSeq == Seq(inside))
        run(inside) { (emulator, _) =>
          assert(emulator.admin.streamNames.toSet == Set(name, "orders"))
          assert(emulator.admin.records(name).map(r => new String(r.data)) == Seq(name))
          emulator.admin.deleteStream(name)
        }
        run(inside) { (emulator, _) =>
          assert(emulator.admin.streamNames.toSeq == Seq("orders"))
          assert(emulator.admin.records("orders").map(r => new String(r.data)) == Seq("orders"))
        }
    }
  }

  testWithDirectory("a directory of another version is an error with a fix") { path =>
    run(path)((emulator, _) => emulator.admin.createStream("s", 1))
    val description = Files.walk(path).iterator.asScala.find(_.endsWith("stream.json")).get
    Files.writeString(description, Files.readString(description).replace("\"version\":2", "\"version\":1"))
    val error = intercept[KinesisConnectorException](run(path)((_, _) => ()))
    assert(error.condition == "KINESIS_EMULATOR_FAILED")
    assert(error.getMessage.contains(description.getParent.toString), error.getMessage)
  }

  testWithDirectory("a deleted stream is not restored") { path =>
    run(path) { (emulator, _) =>
      emulator.admin.createStream("s", 1)
      emulator.admin.putRecord("s", "k", "x".getBytes)
      emulator.admin.deleteStream("s")
    }
    run(path)((emulator, _) => assert(emulator.admin.streamNames.toSeq == Seq.empty[String]))
  }
}
