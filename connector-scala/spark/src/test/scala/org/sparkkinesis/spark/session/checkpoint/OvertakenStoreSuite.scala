package org.sparkkinesis.spark.session.checkpoint

import org.sparkkinesis.model.{ShardId, StreamShard}
import org.sparkkinesis.spark.coordinator.state.Overtaken
import org.sparkkinesis.suite.TimedSuite

class OvertakenStoreSuite extends TimedSuite {
  private def late(shard: Int): Overtaken =
    Overtaken(
      StreamShard("arn:aws:kinesis:us-east-1:123456789012:stream/orders", ShardId.ofIndex(shard.toLong)),
      7L,
      90000000L
    )

  test("a restarted query finds the shards that were stored last, and no file if there are none") {
    val files = new MemoryFiles
    val store = new OvertakenStore(files)
    store.note(Seq(late(0), late(1)))
    assert(new OvertakenStore(files).all == Seq(late(0), late(1)))
    store.note(Seq(late(1)))
    assert(new OvertakenStore(files).all == Seq(late(1)))
    store.note(Nil)
    assert(new OvertakenStore(files).all.isEmpty && files.texts.isEmpty)
  }

  test("a line that cannot be decoded is ignored") {
    val files = new MemoryFiles
    new OvertakenStore(files).note(Seq(late(3)))
    val name = files.names("").head
    val line = files.read(name).get
    files.write(name, s"$line\nnot a shard\n${line.replace("90000000", "soon")}\n\n")
    assert(new OvertakenStore(files).all == Seq(late(3)))
  }
}
