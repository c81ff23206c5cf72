package org.sparkkinesis.emulator

import scala.concurrent.duration._

import org.sparkkinesis.emulator.kit.JsonClient
import org.sparkkinesis.emulator.kit.JsonClient.at
import org.sparkkinesis.model.hash.HashKeyRange
import org.sparkkinesis.suite.TimedSuite

class ScaleSuite extends TimedSuite {
  private def onEmulator(body: (KinesisEmulator, JsonClient) => Unit): Unit = {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds))
    try body(emulator, new JsonClient(emulator.endpoint))
    finally emulator.close()
  }

  test("ten thousand shards are listed once each, in pages of 1,000") {
    onEmulator { (emulator, client) =>
      emulator.admin.createStream("wide", 10000)
      val pages = Vector.unfold(Option("""{"StreamName":"wide"}""")) {
        _.map { body =>
          val reply = client.ok("ListShards", body)
          val ids = at(reply, "Shards").asInstanceOf[Vector[Any]].map(at(_, "ShardId").toString)
          (ids, Option(at(reply, "NextToken")).map(token => s"""{"NextToken":"$token"}"""))
        }
      }
      assert(pages.map(_.size) == Vector.fill(10)(1000))
      assert(pages.flatten == Vector.tabulate(10000)(i => f"shardId-$i%012d"))
    }
  }

  test("a thousand streams are listed by name, in pages of 100") {
    onEmulator { (emulator, client) =>
      val names = (0 until 1000).map(i => f"stream-$i%04d")
      names.foreach(emulator.admin.createStream(_, 1))
      val pages = Vector.unfold(Option("{}")) {
        _.map { body =>
          val reply = client.ok("ListStreams", body)
          (
            at(reply, "StreamNames").asInstanceOf[Vector[Any]],
            Option(at(reply, "NextToken")).map(t => s"""{"NextToken":"$t"}""")
          )
        }
      }
      assert(pages.map(_.size) == Vector.fill(10)(100))
      assert(pages.flatten.map(_.toString) == names.toVector)
    }
  }

  private val cap = 20L * 1024 * 1024

  /** Returns the bytes that the emulator holds after this number of records was put into each of four shards. */
  private def heldAfter(records: Int, bytes: Int): Long = {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = cap))
    try {
      emulator.admin.createStream("s", 4)
      val data = new Array[Byte](bytes)
      val starts = HashKeyRange.uniform(4).map(_.start.toString)
      (1 to records).foreach(_ => starts.foreach(start => emulator.admin.putRecord("s", "k", start, data)))
      emulator.admin.recordCount("s") * bytes
    } finally emulator.close()
  }

  test("above the memory cap the oldest records are dropped, so that memory stays near the cap for any record size") {
    Seq(10 * 1024 -> 1500, 1024 * 1024 -> 40).foreach { case (bytes, records) =>
      val held = heldAfter(records, bytes)
      assert(held <= cap + 4L * bytes, s"$held held of records of $bytes")
      assert(held >= cap / 2, s"$held held of records of $bytes")
    }
  }

  test("a shard keeps its newest records even if other shards use the whole cap") {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = cap))
    try {
      Seq("full", "late").foreach(emulator.admin.createStream(_, 1))
      val data = new Array[Byte](1024)
      (1 to 25000).foreach(_ => emulator.admin.putRecord("full", "k", data))
      (1 to 1000).foreach(i => emulator.admin.putRecord("late", "k", s"$i".getBytes))
      assert(
        emulator.admin.records("late").map(r => new String(r.data)).toVector ==
          (745 to 1000).map(_.toString).toVector
      )
    } finally emulator.close()
  }
}
