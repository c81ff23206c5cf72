package org.sparkkinesis.chaos

import scala.collection.mutable

import org.sparkkinesis.chaos.query.{BatchFiles, SeenRecord}

/**
 * The result of comparing the rows with the put records. Every list of faults has a limited number of examples.
 *
 * @param reruns
 *   the number of batches that ran more than once
 * @param reported
 *   the number of records that were not read and whose loss the query reported
 * @param leftOut
 *   records that existed when `Trigger.AvailableNow` started and that were read after its last batch
 */
final case class Verdict(
    batches: Int,
    rows: Long,
    reruns: Int,
    reported: Long,
    lost: Seq[String],
    doubled: Seq[String],
    foreign: Seq[String],
    outOfOrder: Seq[String],
    unequalAttempts: Seq[String],
    leftOut: Seq[String]
) {
  def faults: Seq[String] = lost ++ doubled ++ foreign ++ outOfOrder ++ unequalAttempts ++ leftOut
  def isRight: Boolean = faults.isEmpty

  /** The members of a JSON object. */
  def json: String = {
    def list(items: Seq[String]) = items.map(item => "\"" + item.replace("\"", "'") + "\"").mkString("[", ", ", "]")
    s""""batches": $batches, "rows": $rows, "reruns": $reruns, "reportedLost": $reported, "lost": ${list(lost)}, """ +
      s""""doubled": ${list(doubled)}, "foreign": ${list(foreign)}, "outOfOrder": ${list(outOfOrder)}, """ +
      s""""unequalAttempts": ${list(unequalAttempts)}, "leftOut": ${list(leftOut)}"""
  }
}

/**
 * The records that were put into a stream.
 *
 * @param sequenceNumber
 *   returns the sequence number of a record
 */
final case class Puts(stream: String, count: Int, sequenceNumber: Int => String)

/** A completed run with `Trigger.AvailableNow`: the records of each stream at its start, and its last batch. */
final case class Drained(counts: Map[String, Long], lastBatch: Long)

/** The losses of a run in which the service destroyed records. */
trait KnownLosses {

  /** Returns whether the query reported the loss of a record. */
  def isReported(stream: String, number: Long): Boolean

  /** The number of batches that may have run again without records of their first attempt. */
  def mayDiffer: Int
}

object KnownLosses {
  object None extends KnownLosses {
    override def isReported(stream: String, number: Long): Boolean = false
    override def mayDiffer: Int = 0
  }
}

object Verdict {
  private val Examples = 5

  /**
   * Checks that every record is in one batch, that all attempts at a batch are equal, and that the records of every
   * key are in order: by batches, and within a batch by the order of its one shard.
   */
  def of(
      files: BatchFiles,
      puts: Seq[Puts],
      losses: KnownLosses = KnownLosses.None,
      drained: Seq[Drained] = Nil
  ): Verdict = {
    val batchOf = puts.map(put => put.stream -> Array.fill(put.count)(Missing)).toMap
    val sequenceNumbers = puts.map(put => put.stream -> put.sequenceNumber).toMap
    val lastOfKey = mutable.HashMap.empty[String, String]
    val doubled, foreign, outOfOrder = Seq.newBuilder[String]
    var rows = 0L
    files.batches.foreach { batch =>
      val ofBatch = files.rows(batch).toVector
      rows += ofBatch.size
      ofBatch.foreach { row =>
        val seen = batchOf.getOrElse(row.stream, Array.empty[Int])
        if (
          row.number < 0 || row.number >= seen.length ||
          sequenceNumbers(row.stream)(row.number.toInt) != row.sequenceNumber
        ) foreign += s"batch $batch: ${row.line}"
        else {
          val before = seen(row.number.toInt)
          if (before != Missing) doubled += s"batches $before and $batch: ${row.line}"
          seen(row.number.toInt) = batch.toInt
        }
      }
      outOfOrder ++= disorder(batch, ofBatch, lastOfKey)
    }
    val missing = for {
      (stream, seen) <- batchOf.toSeq.sortBy(_._1)
      number <- seen.indices if seen(number) == Missing
    } yield stream -> number
    val (reported, lost) = missing.partition { case (stream, number) => losses.isReported(stream, number.toLong) }
    val attempts = files.attempts.groupBy(_.batch)
    val unequal = attempts.collect {
      case (batch, ofBatch) if ofBatch.flatMap(_.digests).distinct.size > 1 => s"batch $batch: $ofBatch"
    }.toSeq
    Verdict(
      files.batches.size,
      rows,
      attempts.count(_._2.size > 1),
      reported.size.toLong,
      lost.take(Examples).map { case (stream, number) => s"$stream $number, of ${lost.size}" },
      doubled.result().take(Examples),
      foreign.result().take(Examples),
      outOfOrder.result().take(Examples),
      if (unequal.size > losses.mayDiffer) unequal.take(Examples) else Nil,
      drained.flatMap(leftOut(_, batchOf)).take(Examples)
    )
  }

  private def leftOut(drained: Drained, batchOf: Map[String, Array[Int]]): Seq[String] = for {
    (stream, seen) <- batchOf.toSeq.sortBy(_._1)
    number <- seen.indices.take(drained.counts.getOrElse(stream, 0L).toInt)
    if seen(number) > drained.lastBatch
  } yield s"$stream $number, in batch ${seen(number)} after ${drained.lastBatch}"

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

  /** Stands for no batch. */
  private val Missing = -1

  /** Compares two decimal numbers without leading zeros. */
  private[chaos] def isBefore(a: String, b: String): Boolean = a.length < b.length || (a.length == b.length && a < b)
}
