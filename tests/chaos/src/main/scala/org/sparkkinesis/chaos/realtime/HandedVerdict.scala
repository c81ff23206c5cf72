package org.sparkkinesis.chaos.realtime

import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.chaos.query.HandedRow
import org.sparkkinesis.json.Json

/**
 * A kill during a real-time batch.
 *
 * @param batches
 *   the batch that was running; two if a batch was committed at about the same time
 * @param app
 *   Spark's id of the application
 * @param executor
 *   the executor that was killed; empty if the driver was killed
 */
final case class Kill(batches: Range.Inclusive, app: String, executor: Option[String]) {

  /** Whether Spark must hand over this row again, because the kill ended its task before the commit of its batch. */
  def repeats(row: HandedRow): Boolean =
    batches.contains(row.batch.toInt) && row.app == app && executor.forall(_ == row.executor)
}

/**
 * The result of comparing the rows of a query in real-time mode with the put records. Every list of faults has a
 * limited number of examples.
 *
 * @param repeated
 *   the number of rows that came again, as they must
 */
final case class HandedVerdict(
    rows: Int,
    repeated: Int,
    lost: Seq[String],
    foreign: Seq[String],
    doubled: Seq[String],
    outOfOrder: Seq[String]
) {
  def faults: Seq[String] = lost ++ foreign ++ doubled ++ outOfOrder
  def isRight: Boolean = faults.isEmpty

  /** The members of a JSON object. */
  def fields: Seq[(String, Json)] = {
    def list(items: Seq[String]) = Json.Arr(items.map(Json.Str(_)).toVector)
    Seq(
      "rows" -> Json.Num(BigDecimal(rows)),
      "repeated" -> Json.Num(BigDecimal(repeated)),
      "lost" -> list(lost),
      "foreign" -> list(foreign),
      "doubled" -> list(doubled),
      "outOfOrder" -> list(outOfOrder)
    )
  }
}

object HandedVerdict {
  private val Examples = 5

  /**
   * Checks that each record was handed over; more than once only if a kill ended the tasks of all times but the last
   * one before their batch was committed; and the records of each key in order by each attempt of a task.
   */
  def of(rows: Seq[HandedRow], kills: Seq[Kill], puts: Puts): HandedVerdict = {
    def isPut(row: HandedRow) = {
      val number = row.record.number
      row.record.stream == puts.stream && number >= 0 && number < puts.count &&
      puts.sequenceNumber(number.toInt) == row.record.sequenceNumber
    }
    val (known, foreign) = rows.partition(isPut)
    val byNumber = known.groupBy(_.record.number)
    val lost = (0 until puts.count).filterNot(number => byNumber.contains(number.toLong))
    val doubled = byNumber.valuesIterator.filter { times =>
      val sorted = times.sortBy(row => (row.batch, row.app))
      sorted.sizeIs > 1 && sorted.count(row => !kills.exists(_.repeats(row))) > 1
    }.toVector
    val outOfOrder = known.groupBy(row => (row.attempt, row.record.key)).valuesIterator.flatMap { ofKey =>
      ofKey.zip(ofKey.drop(1)).collect {
        case (before, after) if before.record.number >= after.record.number => s"${text(before)} before ${text(after)}"
      }
    }.toVector
    HandedVerdict(
      rows.size,
      byNumber.valuesIterator.map(_.size - 1).sum,
      lost.take(Examples).map(number => s"$number, of ${lost.size}"),
      foreign.take(Examples).map(text),
      doubled.take(Examples).map(_.map(text).mkString(" and ")),
      outOfOrder.take(Examples)
    )
  }

  private def text(row: HandedRow): String =
    s"${row.record.number} in batch ${row.batch} on executor ${row.executor} of ${row.app}"
}
