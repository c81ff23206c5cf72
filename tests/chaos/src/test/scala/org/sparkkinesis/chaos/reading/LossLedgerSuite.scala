package org.sparkkinesis.chaos.reading

import java.time.{LocalDateTime, ZoneId}

import scala.concurrent.duration._

import org.sparkkinesis.event.log.QueryContext
import org.sparkkinesis.event.{ConnectorEvent, DataLost, StreamRecreated}
import org.sparkkinesis.model.ShardId
import org.sparkkinesis.suite.TimedSuite

class LossLedgerSuite extends TimedSuite {
  private val Day = 24.hours.toMillis
  private val Hour = 1.hour.toMillis
  private val Start = 1_000_000_000L

  /** A ledger whose log clock advances by 1,000 s with every event. */
  private def ledger: LossLedger = {
    var events = 0L
    new LossLedger(Start, Day, () => { events += 1; events * 1_000_000L })
  }

  private def report(stream: String, millis: Long) = Seq(LossReport(millis, stream))

  test("a jump beyond the retention destroys the earlier records of every stream") {
    val known = ledger
    known.jumped(Map("a" -> 10L, "b" -> 5L), Start, Start + 25 * Hour)
    assert(known.destroyed("a", 9) == Seq(1_000_000L) && known.destroyed("b", 4) == Seq(1_000_000L))
    assert(known.destroyed("a", 10).isEmpty && known.destroyed("b", 5).isEmpty)
    assert(known.events == 1)
  }

  test("smaller jumps destroy records when their sum exceeds the retention, but not records put in between") {
    val known = ledger
    known.jumped(Map("a" -> 10L), Start, Start + 10 * Hour)
    known.jumped(Map("a" -> 20L), Start + 10 * Hour, Start + 20 * Hour)
    assert(known.destroyed("a", 0).isEmpty)
    known.jumped(Map("a" -> 30L), Start + 20 * Hour, Start + 28 * Hour)
    assert(known.destroyed("a", 9) == Seq(3_000_000L))
    assert(known.destroyed("a", 10).isEmpty)
  }

  test("a deletion destroys the records of its stream only") {
    val known = ledger
    known.deleted("a", 10)
    assert(known.destroyed("a", 9) == Seq(1_000_000L))
    assert(known.destroyed("a", 10).isEmpty && known.destroyed("b", 0).isEmpty)
  }

  test("a loss is explained by a report of its stream soon after it") {
    val known = ledger
    known.deleted("a", 10)
    def explained(reports: Seq[LossReport]) = known.isReported(reports)("a", 3)
    assert(explained(report("a", 1_000_000L)) && explained(report("a", 1_090_000L)))
    assert(!explained(Nil) && !explained(report("b", 1_000_000L)))
    assert(!explained(report("a", 999_000L)) && !explained(report("a", 1_600_000L)))
    assert(!known.isReported(report("a", 1_000_000L))("a", 10))
  }

  private def line(event: ConnectorEvent): String =
    s"26/11/22 08:45:15 WARN query: ${QueryContext(Some("q"), Some("r"), None, Seq("orders")).line(event)}"

  test("reports with their streams are found in the connector's log lines") {
    val millis = LocalDateTime.of(2026, 11, 22, 8, 45, 15).atZone(ZoneId.systemDefault).toInstant.toEpochMilli
    val arn = "arn:aws:kinesis:us-east-1:000000000000:stream/orders"
    Seq(
      DataLost(arn, ShardId("shardId-000000000001"), "it expired", endsQuery = true),
      StreamRecreated(arn, 1, 2, endsQuery = false)
    ).foreach(event => assert(LossLedger.report(line(event)).contains(LossReport(millis, "orders"))))
    assert(LossLedger.report("26/11/22 08:45:15 WARN query: [stream=orders] Something else").isEmpty)
  }
}
