package org.sparkkinesis.emulator

import java.util.Base64

import scala.concurrent.duration._

import io.netty.buffer.PooledByteBufAllocator

import org.sparkkinesis.emulator.kit.JsonClient.at
import org.sparkkinesis.emulator.kit.{H2Client, JsonClient}
import org.sparkkinesis.suite.TimedSuite

/** A subscriber that does not read uses the memory of one window, not that of the events it has missed. */
class SlowSubscriberSuite extends TimedSuite {
  override protected def timeLimit: FiniteDuration = 2.minutes
  private val mebibyte = 1024 * 1024
  private val slowOnes = 20
  private val recordBytes = 64 * 1024
  private val records = 200
  private val cap = 6L * mebibyte

  // A channel may hold 512 KiB and one event that exceeds them, 512 KiB as base64; the pool may hold as much again.
  private val mostForEach = 3L * mebibyte

  private def networkMemory: Long = {
    val metric = PooledByteBufAllocator.DEFAULT.metric
    metric.usedDirectMemory + metric.usedHeapMemory
  }

  test("twenty subscribers that never read use bounded memory and block no other, and a late reader resumes") {
    val emulator = KinesisEmulator.start(EmulatorConfig(quotas = false, changeDelay = 0.seconds, memoryCapBytes = cap))
    val client = new H2Client(emulator.port)
    try {
      val json = new JsonClient(emulator.endpoint)
      val arn = emulator.admin.createStream("s", 1)
      val before = networkMemory
      def subscribe(name: String, reads: Boolean): H2Client.Answer = {
        val made = json.ok("RegisterStreamConsumer", s"""{"StreamARN":"$arn","ConsumerName":"$name"}""")
        client.open(
          "SubscribeToShard",
          s"""{"ConsumerARN":"${at(made, "Consumer", "ConsumerARN")}","ShardId":"shardId-000000000000",""" +
            """"StartingPosition":{"Type":"TRIM_HORIZON"}}""",
          reads
        )
      }
      val slow = (1 to slowOnes).map(i => subscribe(s"slow-$i", reads = false))
      // This is the last subscription of the connection, so the others were offered their events before it.
      val reader = subscribe("reader", reads = true)
      reader.await("initial-response")
      val data = new Array[Byte](recordBytes)
      (1 to records).foreach(_ => emulator.admin.putRecord("s", "k", data))
      val last = "the last one"
      emulator.admin.putRecord("s", "k", last.getBytes)
      val encoded = Base64.getEncoder.encodeToString(last.getBytes)
      reader.await(encoded)

      val grown = networkMemory - before
      val unbounded = slowOnes.toLong * records * recordBytes
      assert(
        grown < slowOnes * mostForEach,
        s"$grown more bytes for network buffers; without a bound it would be $unbounded"
      )
      val held = emulator.admin.recordCount("s") * recordBytes
      assert(held <= cap + recordBytes, s"$held bytes of records held")
      assert(slow.map(_.bytes.get).toSet == Set(0L))

      slow.head.startReading()
      slow.head.await(encoded)
      assert(slow.head.bytes.get > recordBytes)
    } finally {
      client.close()
      emulator.close()
    }
  }
}
