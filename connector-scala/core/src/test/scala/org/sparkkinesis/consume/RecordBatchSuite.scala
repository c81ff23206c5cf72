package org.sparkkinesis.consume

import org.sparkkinesis.model.KinesisRecord
import org.sparkkinesis.suite.TimedSuite

class RecordBatchSuite extends TimedSuite {
  private def record(arrivalMillis: Long) = new KinesisRecord("1", "k", arrivalMillis, new Array[Byte](1), null)

  test("the time up to which a shard was read") {
    Seq(
      ("nothing came until the response was sent", Nil, 0L, 100L),
      ("nothing came until the time that the service reports", Nil, 30L, 70L),
      ("at the tip, the response has all that came until it was sent", Seq(record(80)), 0L, 100L),
      ("a record proves a later time than one that is known", Seq(record(80), record(120)), 0L, 120L),
      ("behind the tip, the last record counts", Seq(record(40), record(50)), 30L, 50L)
    ).foreach { case (name, records, behind, expected) =>
      withClue(name)(assert(RecordBatch(records.toIndexedSeq, behind, sentMillis = 100).readUpToMillis == expected))
    }
    assert(
      RecordBatch.atShardEnd(IndexedSeq(record(80)), 100).readUpToMillis == 80,
      "later records are in the children"
    )
  }
}
