package org.sparkkinesis.spark.read.batch

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model._
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.service.RecordPage
import org.sparkkinesis.suite.TimedSuite

class SizeEstimateSuite extends TimedSuite {
  private val now = 1000000L

  /** Records of 10 bytes, 100 milliseconds apart. */
  private def page(records: Int, behind: Long, isLast: Boolean = false): RecordPage = RecordPage(
    (0 until records).map(i => new KinesisRecord((i + 1).toString, "k", i * 100L, new Array[Byte](9), null)),
    Option.when(!isLast)("next"),
    behind,
    Nil
  )

  private def of(page: RecordPage, end: RangeEnd = RangeEnd.ArrivedBy(now)): (Long, Option[Long]) = {
    val estimate = SizeEstimate.ofShard(page, end, now)
    estimate.bytes -> estimate.rows
  }

  test("the size of a shard that one page holds is exact") {
    assert(of(page(11, behind = 0)) == 110L -> Some(11L))
    assert(of(page(11, behind = 5000, isLast = true)) == 110L -> Some(11L))
    assert(of(page(0, behind = 0)) == 0L -> Some(0L))
  }

  test("records after the end do not count") {
    assert(of(page(11, behind = 5000), RangeEnd.ArrivedBy(450)) == 50L -> Some(5L))
    assert(of(page(11, behind = 5000), RangeEnd.At(SequenceNumber("3"))) == 30L -> Some(3L))
  }

  test("the rate of the first records is projected for the others") {
    assert(of(page(11, behind = 9000)) == 1100L -> Some(110L))
    assert(of(page(11, behind = 9000), RangeEnd.ArrivedBy(2000)) == 220L -> Some(22L))
  }

  test("a page without records says nothing, so that the quota of the shard limits the size") {
    assert(of(page(0, behind = 10000))._1 == 10L * KinesisQuotas.Shard.WriteBytesPerSecond)
  }

  test("many shards are as large as their quotas and the time allow, without a call") {
    val ranges = (0 until 5).map { i =>
      ShardRange(
        StreamShard("arn", ShardId(f"shardId-$i%012d")),
        "orders",
        StartingPosition.AtTimestamp(now - 60000),
        RangeEnd.ArrivedBy(now),
        None
      )
    }
    val estimate = SizeEstimate.of(ranges, new RangeSamples(_ => fail("no call")), _ => 0L, now)
    assert(estimate == SizeEstimate(5L * 60 * KinesisQuotas.Shard.WriteBytesPerSecond, None))
  }

  test("a read that cannot be measured is as large as its quotas allow") {
    val range = ShardRange(
      StreamShard("arn", ShardId("shardId-000000000000")),
      "orders",
      StartingPosition.TrimHorizon,
      RangeEnd.ArrivedBy(now),
      None
    )
    val samples = new RangeSamples(_ => throw new RuntimeException("no client"))
    val estimate = SizeEstimate.of(Seq(range), samples, _ => now - 1000, now)
    assert(estimate == SizeEstimate(KinesisQuotas.Shard.WriteBytesPerSecond.toLong, None))
  }
}
