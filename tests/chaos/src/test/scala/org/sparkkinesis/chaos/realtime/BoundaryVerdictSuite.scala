package org.sparkkinesis.chaos.realtime

import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.chaos.query.{HandedRow, SeenRecord}
import org.sparkkinesis.suite.TimedSuite

/** Tests that [[BoundaryVerdict]] detects each kind of fault. */
class BoundaryVerdictSuite extends TimedSuite {

  /** Two records in an aggregate each. */
  private def sequence(number: Int) = s"${100 + number / 2}"

  private def row(number: Int, batch: Long, key: String = "k"): HandedRow =
    HandedRow(
      batch,
      "app",
      "0",
      s"$batch",
      SeenRecord("orders", number.toLong, key, "s0", sequence(number)),
      millis = 0
    )

  private def verdict(count: Int)(rows: HandedRow*): BoundaryVerdict = {
    val batches = rows.groupBy(_.batch).toSeq.sortBy(_._1).map { case (_, of) => Seq(of) }
    BoundaryVerdict.of(batches.iterator, Puts("orders", count, sequence))
  }

  test("each record once and in order is right, also if a batch ends within an aggregate") {
    val found = verdict(4)(row(0, 0), row(1, 0), row(2, 0), row(3, 1))
    assert((found.faultCount, found.batches, found.rows, found.cuts) == (0L, 2, 4L, 1))
  }

  test("a record that is missing, and one that came twice, is a fault") {
    assert(verdict(3)(row(0, 0), row(2, 1)).examples == Seq("1 came 0 times"))
    assert(verdict(2)(row(0, 0), row(1, 0), row(1, 1)).examples.contains("1 came 2 times"))
  }

  test("records of a key in another order are a fault, in one batch and in two") {
    assert(verdict(2)(row(1, 0), row(0, 0)).faultCount == 1)
    assert(verdict(2)(row(1, 0), row(0, 1)).faultCount == 1)
    assert(verdict(2)(row(1, 0), row(0, 1, key = "other")).faultCount == 0)
  }

  test("a record that was not put is a fault") {
    assert(verdict(1)(row(0, 0), row(7, 0)).faultCount == 1)
    val other = row(0, 0)
    assert(verdict(1)(other.copy(record = other.record.copy(sequenceNumber = "7"))).faultCount == 2)
  }
}
