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
}
