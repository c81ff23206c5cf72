package org.sparkkinesis.simulation.read

import org.sparkkinesis.simulation.common.Violation
import org.sparkkinesis.simulation.spark.ReadRow
import org.sparkkinesis.suite.TimedSuite

class ReadLedgerSuite extends TimedSuite {
  private val hour = 3600000L
  private val row = ReadRow("shard-1", "10", 0, "key", 1)

  /** Reads a batch without its record 25 hours after the record arrived, and again with it. */
  private def addedAfter(report: Option[LossReport], rows: Vector[ReadRow] = Vector(row)): Unit = {
    val ledger = new ReadLedger(() => 25 * hour, initialRetentionMillis = 24 * hour)
    ledger.add(PutRecord(row.id, "orders#0", row.shard, row.key, 0, ordered = true, dropped = false))
    report.foreach(ledger.report)
    ledger.onBatchRead(0, Vector.empty)
    ledger.onBatchRead(0, rows)
  }

  private def loss(millis: Long, shard: String, stream: String = "orders") =
    Some(LossReport(millis, "KINESIS_DATA_LOSS", stream, shard, isError = false))

  test("a batch that runs again may have records whose loss was reported") {
    addedAfter(loss(25 * hour, row.shard))
  }

  test("a batch that runs again may not have other new records") {
    Seq(
      "no report" -> None,
      "a report of another shard" -> loss(25 * hour, "shard-2"),
      "a report of another stream" -> loss(25 * hour, row.shard, "other"),
      "a report before the record expired" -> loss(23 * hour, row.shard)
    ).foreach { case (name, report) =>
      withClue(name)(assert(intercept[Violation](addedAfter(report)).kind == "rerun"))
    }
    val unknown = row.copy(id = 2)
    assert(intercept[Violation](addedAfter(loss(25 * hour, row.shard), Vector(unknown))).kind == "rerun")
  }

  test("a report excuses missing records of its shard, or of its lineage, and no others") {
    def missing(loss: LossReport): Boolean = {
      val ledger = new ReadLedger(() => 25 * hour, initialRetentionMillis = 24 * hour)
      ledger.begin(0)
      ledger.noted()
      val record =
        PutRecord(1, "a/orders#0", "shard-4", "key", 2 * hour, ordered = true, dropped = false, Set("shard-2"))
      ledger.add(record)
      ledger.deleted(record.stream)
      ledger.report(loss)
      ledger.missing.nonEmpty
    }
    def report(shard: String, stream: String = "orders", lineage: Option[Set[String]] = None) =
      LossReport(25 * hour, "KINESIS_DATA_LOSS", stream, shard, isError = false, lineage)
    Seq(
      report("shard-4"),
      report("shard-4", "a/orders"),
      report("shard-2", lineage = Some(Set("shard-9"))),
      report("shard-2", lineage = Some(Set.empty)),
      report("shard-1", lineage = Some(Set("shard-4", "shard-9"))),
      report("")
    ).foreach(loss => assert(!missing(loss), loss))
    Seq(
      report("shard-5"),
      report("shard-2"),
      report("shard-4", "b/orders"),
      report("shard-1", lineage = Some(Set("shard-9"))),
      report("", "b/orders")
    ).foreach(loss => assert(missing(loss), loss))
  }

  test("a stream that begins at its oldest record need not deliver what expires before it is read") {
    var now = 0L
    val ledger = new ReadLedger(() => now, initialRetentionMillis = 24 * hour)
    def put(id: Long, stream: String) =
      ledger.add(PutRecord(id, s"$stream#0", "shard-1", "key", now, ordered = true, dropped = false))
    def missing = ledger.missing.map(_.id).toSet
    ledger.begin(0, unread = Set("oldest"))
    ledger.noted()
    put(1, "oldest")
    put(2, "timed")
    now = 20 * hour
    put(3, "oldest")
    now = 25 * hour
    assert(missing == Set(2))
    ledger.begin(0)
    assert(missing == Set(2, 3))
    now = 50 * hour
    ledger.begin(0)
    assert(missing == Set(2, 3), "the stream is read since the second call")
  }
}
