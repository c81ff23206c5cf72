package org.sparkkinesis.plan.prune

import org.sparkkinesis.consume.RangeEnd
import org.sparkkinesis.model.StartingPosition._
import org.sparkkinesis.model._
import org.sparkkinesis.plan.ShardRange
import org.sparkkinesis.suite.TimedSuite

/** How large ranges are divided. */
class RangePiecesSuite extends TimedSuite {
  private val MiB = KinesisQuotas.MiB.toLong
  private val range = ShardRange(
    StreamShard("arn", ShardId.ofIndex(0)),
    "orders",
    TrimHorizon,
    RangeEnd.ArrivedBy(1000),
    None,
    firstArrivalMillis = Some(1)
  )
  private def first(number: Int, arrival: Long) = new KinesisRecord(number.toString, "k", arrival, Array.empty, null)
  private def number(value: Int) = SequenceNumber(value.toString)

  test("the number of pieces depends on the size, the other ranges and the cores") {
    val table = Seq(
      (15 * MiB, 1, 2, 1),
      (31 * MiB, 1, 2, 1),
      (32 * MiB, 1, 2, 2),
      (1024 * MiB, 1, 2, 8),
      (1024 * MiB, 2, 2, 4),
      (1024 * MiB, 3, 2, 3),
      (1024 * MiB, 7, 2, 2),
      (1024 * MiB, 8, 2, 1),
      (1024 * MiB, 1, 100, 16)
    )
    for ((bytes, ranges, slots, pieces) <- table)
      assert(RangePieces.count(bytes, ranges, slots) == pieces, (bytes, ranges, slots))
  }

  test("cuts divide a time equally") {
    assert(RangePieces.cuts(100, 500, 4) == Seq(200, 300, 400))
    assert(RangePieces.cuts(100, 500, 1) == Nil)
    assert(RangePieces.cuts(100, 100, 3) == Seq(100))
  }

  test("pieces begin and end at records, follow each other, and none is twice") {
    // The same first record after two cuts, one after the end of the range, and two whose times are out of order.
    val firsts = Seq(first(30, 300), first(20, 310), first(20, 310), first(90, 1001))
    val pieces = RangePieces.of(range, firsts, mayExpire = _ <= 300)
    assert(pieces.map(piece => (piece.after, piece.before, piece.firstArrivalMillis)) == Seq(
      (TrimHorizon, Some(number(20)), Some(1L)),
      (AtSequenceNumber(number(20)), Some(number(30)), None),
      (AtSequenceNumber(number(30)), None, Some(300L))
    ))
    assert(pieces.forall(_.end == range.end))
  }

  test("a range that ends before a number has no piece after that") {
    val pieces = RangePieces.of(range.copy(before = Some(number(30))), Seq(first(20, 1), first(30, 2)), _ => false)
    assert(pieces.map(_.before) == Seq(Some(number(20)), Some(number(30))))
  }

  test("a range without a record after a cut is one piece") {
    assert(RangePieces.of(range, Nil, _ => false) == Seq(range))
  }
}
