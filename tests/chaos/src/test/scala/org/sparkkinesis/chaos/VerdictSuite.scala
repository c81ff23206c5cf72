package org.sparkkinesis.chaos

import org.sparkkinesis.chaos.query.{BatchFiles, SeenRecord}
import org.sparkkinesis.suite.TimedSuite

/** Tests that [[Verdict]] detects each kind of fault. */
class VerdictSuite extends TimedSuite with TemporaryFolder {
  private def record(number: Int, shard: Int = 0) =
    SeenRecord(number.toLong, s"k${number % 2}", s"s$shard", sequence(number))
  private def sequence(number: Int) = s"${100 + number}"

  /** Returns the verdict on attempts, each given as a batch id and its rows. */
  private def verdict(count: Int, attempts: (Long, Seq[SeenRecord])*): Verdict = {
    val at = folder()
    attempts.foreach { case (batch, rows) => new BatchFiles(at).write(batch, Seq(rows)) }
    Verdict.of(new BatchFiles(at), count, sequence)
  }

  test("all records once and in order is correct, even if a batch ran twice") {
    val found =
      verdict(4, 0L -> Seq(record(0), record(1)), 1L -> Seq(record(2), record(3)), 1L -> Seq(record(3), record(2)))
    assert(found.faults == Nil)
    assert((found.batches, found.rows, found.reruns) == (2, 4L, 1))
  }

  test("a record that is missing is lost")(assert(verdict(3, 0L -> Seq(record(0), record(2))).lost == Seq("1")))

  test("a record in two batches is reported as doubled") {
    assert(verdict(2, 0L -> Seq(record(0), record(1)), 1L -> Seq(record(1))).doubled.size == 1)
  }

  test("a record that was never put is reported as foreign") {
    assert(verdict(1, 0L -> Seq(record(0), record(7))).foreign.size == 1)
    assert(verdict(1, 0L -> Seq(record(0).copy(sequenceNumber = "5"))).foreign.size == 1)
  }

  test("a key's records in the wrong order, or from two shards in one batch, are reported as out of order") {
    assert(verdict(3, 0L -> Seq(record(1), record(2)), 1L -> Seq(record(0))).outOfOrder.size == 1)
    assert(verdict(3, 0L -> Seq(record(0), record(1), record(2, shard = 1))).outOfOrder.size == 1)
  }

  test("attempts or actions of a batch with different rows are reported as unequal") {
    val runs = verdict(2, 0L -> Seq(record(0)), 0L -> Seq(record(0), record(1)))
    assert(runs.unequalAttempts.size == 1)
    val at = folder()
    new BatchFiles(at).write(0, Seq(Seq(record(0)), Nil))
    assert(Verdict.of(new BatchFiles(at), 1, sequence).unequalAttempts.size == 1)
  }
}
