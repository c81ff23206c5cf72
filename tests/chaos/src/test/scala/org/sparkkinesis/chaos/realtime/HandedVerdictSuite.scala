package org.sparkkinesis.chaos.realtime

import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.chaos.query.{HandedRow, SeenRecord}
import org.sparkkinesis.suite.TimedSuite

/** Tests that [[HandedVerdict]] detects each kind of fault, and accepts what a kill explains. */
class HandedVerdictSuite extends TimedSuite {
  private def sequence(number: Int) = s"${100 + number}"

  private def row(number: Int, batch: Long, executor: String = "0", app: String = "app-1"): HandedRow =
    HandedRow(
      batch,
      app,
      executor,
      s"$batch-$executor-$app",
      SeenRecord("orders", number.toLong, s"k${number % 2}", "s0", sequence(number)),
      millis = 0
    )

  private def verdict(count: Int, kills: Kill*)(rows: HandedRow*): HandedVerdict =
    HandedVerdict.of(rows, kills, Puts("orders", count, sequence))

  private val executorKill = Kill(3 to 3, "app-1", Some("1"))
  private val driverKill = Kill(3 to 3, "app-1", None)

  test("each record once and in order is right") {
    val found = verdict(3)(row(0, 0), row(1, 0, "1"), row(2, 1))
    assert(found.faults == Nil && (found.rows, found.repeated) == (3, 0))
  }

  test("a record that no task handed over is lost") {
    assert(verdict(3)(row(0, 0), row(2, 0)).lost == Seq("1, of 1"))
  }

  test("a record that was not put, or has another sequence number, is foreign") {
    assert(verdict(1)(row(0, 0), row(1, 0)).foreign.size == 1)
    val other = row(0, 0)
    assert(verdict(1)(other, other.copy(record = other.record.copy(sequenceNumber = "7"))).foreign.size == 1)
  }

  test("a repeated record without a kill is a fault, in the same batch and in a later one") {
    assert(verdict(1)(row(0, 3), row(0, 3, "1")).doubled.size == 1)
    assert(verdict(1)(row(0, 3), row(0, 4)).doubled.size == 1)
  }

  test("rows of a killed executor in the running batch may come again in that batch or the next one") {
    Seq(row(0, 3, "2"), row(0, 4, "0")).foreach { again =>
      val found = verdict(1, executorKill)(row(0, 3, "1"), again)
      assert(found.faults == Nil && found.repeated == 1)
    }
  }

  test("rows of another executor, of an earlier batch, and of a later application may not come again") {
    Seq(row(0, 3, "0"), row(0, 2, "1"), row(0, 3, "1", "app-2")).foreach { first =>
      assert(verdict(1, executorKill)(first, row(0, 4, "0", "app-3")).doubled.size == 1, first)
    }
  }

  test("every row of the running batch may come again when the driver was killed, but not twice") {
    val before = Seq(row(0, 3, "0"), row(1, 3, "1"))
    val again = Seq(row(0, 3, "0", "app-2"), row(1, 3, "0", "app-2"))
    assert(verdict(2, driverKill)(before ++ again: _*).faults == Nil)
    assert(verdict(2, driverKill)(before ++ again :+ row(1, 4, "0", "app-2"): _*).doubled.size == 1)
  }

  test("an attempt that hands over the records of a key in another order is reported") {
    assert(verdict(3)(row(2, 0), row(1, 0), row(0, 0)).outOfOrder.size == 1)
  }
}
