package org.sparkkinesis.chaos.realtime

import scala.collection.mutable

import org.sparkkinesis.chaos.Puts
import org.sparkkinesis.chaos.query.{HandedRow, SeenRecord}
import org.sparkkinesis.json.Json

/**
 * The result of comparing the rows of a query that was never disturbed with the put records. The list of faults has a
 * limited number of examples.
 *
 * @param batches
 *   the number of batches with rows
 * @param cuts
 *   the number of aggregates of which two batches have rows
 */
final case class BoundaryVerdict(batches: Int, rows: Long, cuts: Int, faultCount: Long, examples: Seq[String]) {

  /** The members of a JSON object. */
  def fields: Seq[(String, Json)] = Seq(
    "batches" -> Json.Num(BigDecimal(batches)),
    "rows" -> Json.Num(BigDecimal(rows)),
    "cutAggregates" -> Json.Num(BigDecimal(cuts)),
    "faults" -> Json.Num(BigDecimal(faultCount)),
    "examples" -> Json.Arr(examples.map(Json.Str(_)).toVector)
  )
}

object BoundaryVerdict {
  private val Examples = 5

  /**
   * Checks that each record was handed over exactly once, and the records of each key in their order over all batches.
   *
   * @param batches
   *   the rows of each batch in the order of the batches, for each attempt of a task in their order
   */
  def of(batches: Iterator[Seq[Seq[HandedRow]]], puts: Puts): BoundaryVerdict = {
    val faults = new Faults
    val times = new Array[Int](puts.count)
    val last = mutable.HashMap.empty[String, Long]
    val lastBatch = mutable.HashMap.empty[String, Long]
    val cut = mutable.HashSet.empty[String]
    var (batchCount, rowCount) = (0, 0L)
    for (attempts <- batches) {
      batchCount += 1
      for (rows <- attempts; row <- rows) {
        val SeenRecord(stream, number, key, _, sequenceNumber) = row.record
        rowCount += 1
        val isPut = stream == puts.stream && number >= 0 && number < puts.count &&
          puts.sequenceNumber(number.toInt) == sequenceNumber
        if (isPut) {
          times(number.toInt) += 1
          // All records of an aggregate have its sequence number.
          if (lastBatch.put(sequenceNumber, row.batch).exists(_ != row.batch)) cut += sequenceNumber
          last.put(key, number).filter(_ >= number).foreach { before =>
            faults.add(s"$number after $before of the key $key in batch ${row.batch}")
          }
        } else faults.add(s"$number with the sequence number $sequenceNumber was not put")
      }
    }
    times.indices.filter(times(_) != 1).foreach(number => faults.add(s"$number came ${times(number)} times"))
    BoundaryVerdict(batchCount, rowCount, cut.size, faults.count, faults.examples.toVector)
  }

  final private class Faults {
    var count = 0L
    val examples = mutable.ArrayBuffer.empty[String]

    def add(text: String): Unit = {
      count += 1
      if (examples.size < Examples) examples += text
    }
  }
}
