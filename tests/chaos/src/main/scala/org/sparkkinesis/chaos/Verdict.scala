package org.sparkkinesis.chaos

import scala.collection.mutable

import org.sparkkinesis.chaos.query.{BatchFiles, SeenRecord}

/**
 * The result of comparing the rows with the put records. Every list of faults has a limited number of examples.
 *
 * @param reruns
 *   the number of batches that ran more than once
 */
final case class Verdict(
    batches: Int,
    rows: Long,
    reruns: Int,
    lost: Seq[String],
    doubled: Seq[String],
    foreign: Seq[String],
    outOfOrder: Seq[String],
    unequalAttempts: Seq[String]
) {
  def faults: Seq[String] = lost ++ doubled ++ foreign ++ outOfOrder ++ unequalAttempts
  def isRight: Boolean = faults.isEmpty

  /** The members of a JSON object. */
  def json: String = {
    def list(items: Seq[String]) = items.map(item => "\"" + item.replace("\"", "'") + "\"").mkString("[", ", ", "]")
    s""""batches": $batches, "rows": $rows, "reruns": $reruns, "lost": ${list(lost)}, "doubled": ${list(doubled)}, """ +
      s""""foreign": ${list(foreign)}, "outOfOrder": ${list(outOfOrder)}, "unequalAttempts": ${list(unequalAttempts)}"""
  }
}

object Verdict {
  private val Examples = 5

  /**
   * Checks that every record is in one batch, that all attempts at a batch are equal, and that the records of every
   * key are in order: by batches, and within a batch by the order of its one shard.
   *
   * @param sequenceNumber
   *   returns the sequence number of a record
   */
  def of(files: BatchFiles, count: Int, sequenceNumber: Int => String): Verdict = {
    val seen = new Array[Byte](count)
    val lastOfKey = mutable.HashMap.empty[String, String]
    val doubled, foreign, outOfOrder = Seq.newBuilder[String]
    var rows = 0L
    files.batches.foreach { batch =>
      val ofBatch = files.rows(batch).toVector
      rows += ofBatch.size
      ofBatch.foreach { row =>
        if (row.number < 0 || row.number >= count || sequenceNumber(row.number.toInt) != row.sequenceNumber)
          foreign += s"batch $batch: ${row.line}"
        else {
          if (seen(row.number.toInt) == 1) doubled += s"batch $batch: ${row.line}"
          seen(row.number.toInt) = 1
        }
      }
      outOfOrder ++= disorder(batch, ofBatch, lastOfKey)
    }
    val attempts = files.attempts.groupBy(_.batch)
    Verdict(
      files.batches.size,
      rows,
      attempts.count(_._2.size > 1),
      seen.indices.iterator.filter(seen(_) == 0).map(number => s"$number").take(Examples).toSeq,
      doubled.result().take(Examples),
      foreign.result().take(Examples),
      outOfOrder.result().take(Examples),
      attempts.collect {
        case (batch, ofBatch) if ofBatch.flatMap(_.digests).distinct.size > 1 => s"batch $batch: $ofBatch"
      }.take(Examples).toSeq
    )
  }

  private def disorder(
      batch: Long,
      rows: Seq[SeenRecord],
      lastOfKey: mutable.HashMap[String, String]
  ): Seq[String] = {
    val shards = rows.groupMap(_.key)(_.shard).collect {
      case (key, several) if several.distinct.size > 1 =>
        s"batch $batch has $key from ${several.distinct.mkString(" and ")}"
    }
    val late = rows.filter { row =>
      val isLate = lastOfKey.get(row.key).exists(last => !isBefore(last, row.sequenceNumber))
      lastOfKey(row.key) = row.sequenceNumber
      isLate
    }
    shards.toSeq ++ late.map(row => s"batch $batch: ${row.line}")
  }

  /** Compares two decimal numbers without leading zeros. */
  private def isBefore(a: String, b: String): Boolean = a.length < b.length || (a.length == b.length && a < b)
}
