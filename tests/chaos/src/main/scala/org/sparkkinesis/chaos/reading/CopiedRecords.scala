package org.sparkkinesis.chaos.reading

import scala.collection.mutable

import org.sparkkinesis.chaos.query.BatchFiles
import org.sparkkinesis.chaos.writing.Arrivals
import org.sparkkinesis.chaos.{KnownLosses, Puts, Verdict}
import org.sparkkinesis.emulator.KinesisEmulator

/**
 * The result of comparing the records that the query wrote with the rows of its batches.
 *
 * @param missing
 *   the number of rows that are not in the stream, and whose loss was not reported
 * @param reported
 *   the number of rows that are not in the stream, and whose loss was reported: a batch is read once to write it and
 *   once to check it, and its records may be destroyed in between
 * @param repeated
 *   the number of duplicates, from batches and tasks that ran again and from lost answers
 * @param overtaken
 *   the number of records whose last arrival is after that of a later record of their key
 */
final case class CopiedRecords(records: Long, missing: Long, reported: Long, repeated: Long, overtaken: Long) {
  def isRight: Boolean = missing == 0 && overtaken == 0
  def json: String =
    s"""{"records": $records, "missing": $missing, "reportedLost": $reported, "repeated": $repeated, """ +
      s""""overtaken": $overtaken}"""
}

private[reading] object CopiedRecords {

  /** @param puts the records of the streams that the query reads */
  def of(
      kinesis: KinesisEmulator,
      stream: String,
      files: BatchFiles,
      puts: Seq[Puts],
      losses: KnownLosses
  ): CopiedRecords = {
    val sources = puts.map(put => put.stream -> put).toMap
    val arrived = sources.keys.map(_ -> mutable.BitSet.empty).toMap
    val laterOfKey = mutable.HashMap.empty[String, String]
    var records, repeated, overtaken = 0L
    // In reverse order, the first occurrence of a record is its last arrival.
    Arrivals.of(kinesis, stream).reverseIterator.foreach { arrival =>
      val source = arrival.key.takeWhile(_ != '/')
      records += 1
      if (!arrived(source).add(arrival.number.toInt)) repeated += 1
      else {
        val number = sources(source).sequenceNumber(arrival.number.toInt)
        if (laterOfKey.get(arrival.key).exists(Verdict.isBefore(_, number))) overtaken += 1
        laterOfKey(arrival.key) = number
      }
    }
    val absent = files.batches.iterator.flatMap(files.rows(_))
      .filterNot(row => arrived.get(row.stream).exists(_(row.number.toInt)))
    val (reported, missing) = absent.toVector.partition(row => losses.isReported(row.stream, row.number))
    CopiedRecords(records, missing.size.toLong, reported.size.toLong, repeated, overtaken)
  }
}
