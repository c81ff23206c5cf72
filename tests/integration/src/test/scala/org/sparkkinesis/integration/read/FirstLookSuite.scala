package org.sparkkinesis.integration.read

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.emulator.fault.{FaultEffect, FaultRule}
import org.sparkkinesis.integration.SparkSuite

/** `processAllAvailable` right after the start, when nothing was fetched yet. */
class FirstLookSuite extends SparkSuite {
  private val efo = Seq("consumerMode" -> "efo", "consumerName" -> "first-look")
  private val modes = Seq("polling" -> Nil, "efo" -> efo)

  private def put(stream: String, numbers: Range): Unit =
    numbers.foreach(i => kinesis.admin.putRecord(stream, s"key-$i", utf8(i.toString)))

  private def start(
      stream: String,
      collected: Collected,
      checkpoint: String,
      options: Seq[(String, String)]
  ): StreamingQuery =
    readStream(stream, options: _*).load().writeStream
      .option("checkpointLocation", checkpoint).foreachBatch(collected.sink).start()

  modes.foreach { case (mode, options) =>
    test(
      s"$mode: everything that is in the stream is processed, also of a shard that answers late, and after a restart"
    ) {
      val stream = s"first-$mode"
      kinesis.admin.createStream(stream, 3)
      put(stream, 0 until 60)
      // The others' records make a batch before this shard says a word.
      kinesis.faults.add(FaultRule(FaultEffect.Delay(500), stream = stream, shard = "shardId-000000000001", count = 2))
      val (at, collected) = (checkpoint(), new Collected)
      val query = start(stream, collected, at, options)
      query.processAllAvailable()
      assert(collected.texts.map(_.toInt).sorted == (0 until 60).toVector)
      query.stop()
      put(stream, 60 until 90)
      val more = new Collected
      start(stream, more, at, options).processAllAvailable()
      assert(more.texts.map(_.toInt).sorted == (60 until 90).toVector)
    }

    test(s"$mode: a stream without a record has nothing to process") {
      kinesis.admin.createStream(s"nothing-$mode", 2)
      val collected = new Collected
      start(s"nothing-$mode", collected, checkpoint(), options).processAllAvailable()
      assert(collected.ids == Vector.empty[Long])
    }
  }

  test("a minimum that was fetched is processed") {
    kinesis.admin.createStream("enough", 2)
    put("enough", 0 until 50)
    val collected = new Collected
    start(
      "enough",
      collected,
      checkpoint(),
      Seq("minRecordsPerTrigger" -> "50", "maxTriggerDelay" -> "1h")
    ).processAllAvailable()
    assert(collected.rows.size == 50)
  }
}
