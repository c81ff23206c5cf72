package org.sparkkinesis.emulator

import scala.concurrent.duration._

import munit.FunSuite

import org.sparkkinesis.emulator.JsonClient.at

class ScaleSuite extends FunSuite {
  private def onEmulator(body: (KinesisEmulator, JsonClient) => Unit): Unit = {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds))
    try body(emulator, new JsonClient(emulator.endpoint))
    finally emulator.close()
  }

  test("ten thousand shards are listed in pages of a thousand, the last as quickly as the first") {
    onEmulator { (emulator, client) =>
      emulator.admin.createStream("wide", 10000)
      def page(body: String): (Int, Option[String], Long) = {
        val start = System.nanoTime()
        val reply = client.ok("ListShards", body)
        val took = System.nanoTime() - start
        (at(reply, "Shards").asInstanceOf[Vector[Any]].size, Option(at(reply, "NextToken")).map(_.toString), took)
      }
      def all(): Vector[(Int, Option[String], Long)] = {
        val first = page("""{"StreamName":"wide"}""")
        Vector.unfold(Option(first))(_.map(p => (p, p._2.map(token => page(s"""{"NextToken":"$token"}""")))))
      }
      all()
      all()
      val pages = all()
      assertEquals(pages.map(_._1), Vector.fill(10)(1000))
      // A listing that started over for each page would take ten times as long at the end.
      val (early, late) = (pages.take(3).map(_._3).min, pages.takeRight(3).map(_._3).min)
      assert(late < early * 5 + 20.millis.toNanos, s"first pages $early ns, last pages $late ns")
    }
  }

  test("a thousand streams are listed by name, a hundred a page") {
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
      assertEquals(pages.map(_.size), Vector.fill(10)(100))
      assertEquals(pages.flatten.map(_.toString), names.toVector)
    }
  }

  test("above the memory cap the oldest records go, and what is held stays near the cap") {
    val cap = 20L * 1024 * 1024
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, memoryCapBytes = cap))
    try {
      emulator.admin.createStream("s", 1)
      val data = new Array[Byte](10 * 1024)
      (1 to 6000).foreach(_ => emulator.admin.putRecord("s", "k", data))
      val held = emulator.admin.recordCount("s") * data.length
      assert(held <= cap + 256 * data.length, s"$held held")
      assert(held >= cap / 2, s"$held held")
    } finally emulator.close()
  }
}
