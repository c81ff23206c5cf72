package org.sparkkinesis.chaos

import org.sparkkinesis.chaos.query.{BatchFiles, SeenRecord}
import org.sparkkinesis.suite.TimedSuite

/** Tests that [[Verdict]] detects each kind of fault. */
class VerdictSuite extends TimedSuite with TemporaryFolder {
  private def record(number: Int, shard: Int = 0) =
    SeenRecord("orders", number.toLong, s"k${number % 2}", s"s$shard", sequence(number))
  private def sequence(number: Int) = s"${100 + number}"

  /** Returns the verdict on attempts, each given as a batch id and its rows. */
  private def verdict(count: Int, attempts: (Long, Seq[SeenRecord])*): Verdict =
    Verdict.of(files(attempts: _*), Seq(puts(count)))

  private def files(attempts: (Long, Seq[SeenRecord])*): BatchFiles = {
    val at = folder()
    attempts.foreach { case (batch, rows) => new BatchFiles(at).write(batch, Seq(rows)) }
    new BatchFiles(at)
  }

  private def puts(count: Int, stream: String = "orders") = Puts(stream, count, sequence)

  /** The records whose loss was reported. */
  private def reported(numbers: Long*) = new KnownLosses {
    override def isReported(stream: String, number: Long): Boolean = stream == "orders" && numbers.contains(number)
    override def mayDiffer: Int = 1
  }

  test("all records once and in order is correct, even if a batch ran twice") {
    val found =
      verdict(4, 0L -> Seq(record(0), record(1)), 1L -> Seq(record(2), record(3)), 1L -> Seq(record(3), record(2)))
    assert(found.faults == Nil)
    assert((found.batches, found.rows, found.reruns) == (2, 4L, 1))
  }

  test("a missing record is reported as lost") {
    assert(verdict(3, 0L -> Seq(record(0), record(2))).lost == Seq("orders 1, of 1"))
  }

  test("a missing record whose loss the query reported is counted, and is no fault") {
    val found = Verdict.of(files(0L -> Seq(record(0))), Seq(puts(3)), reported(1))
    assert(found.reported == 1 && found.lost == Seq("orders 2, of 1"))
  }

  test("the records of several streams are distinguished") {
    val other = record(0).copy(stream = "clicks", key = "c0")
    val read = files(0L -> Seq(record(0), other))
    assert(Verdict.of(read, Seq(puts(1), puts(1, "clicks"))).faults == Nil)
    assert(Verdict.of(read, Seq(puts(1), puts(2, "clicks"))).lost == Seq("clicks 1, of 1"))
    assert(Verdict.of(read, Seq(puts(1))).foreign.size == 1)
  }

  test("a record that existed when AvailableNow started and is not in its batches is reported") {
    val read = files(0L -> Seq(record(0)), 1L -> Seq(record(1)))
    def leftOut(count: Long, lastBatch: Long) =
      Verdict.of(read, Seq(puts(2)), drained = Seq(Drained(Map("orders" -> count), lastBatch))).leftOut
    assert(leftOut(1, 0).isEmpty && leftOut(2, 1).isEmpty)
    assert(leftOut(2, 0) == Seq("orders 1, in batch 1 after 0"))
  }

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
    assert(Verdict.of(new BatchFiles(at), Seq(puts(1))).unequalAttempts.size == 1)
    // The records of a batch that ran again may have expired in the meantime.
    assert(Verdict.of(new BatchFiles(at), Seq(puts(1)), reported(1)).unequalAttempts.isEmpty)
  }
}
