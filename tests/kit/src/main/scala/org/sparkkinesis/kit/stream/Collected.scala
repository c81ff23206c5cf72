package org.sparkkinesis.kit.stream

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration

import org.apache.spark.sql.{Dataset, ForeachWriter, Row}

/**
 * Collects the rows of a query by batch. With `foreachBatch`, a batch that runs again replaces its first attempt, as in
 * a transactional sink; with `foreach`, its rows are added. Thread-safe.
 */
final class Collected {
  private val batches = mutable.TreeMap.empty[Long, Vector[Row]]

  /** The function for `foreachBatch`. */
  val sink: (Dataset[Row], Long) => Unit = (rows, id) => {
    val got = rows.collect().toVector
    synchronized {
      batches(id) = got
      notifyAll()
    }
  }

  /** Returns a writer for `foreach`. The id distinguishes it from other writers in this JVM. */
  def writer(id: String): ForeachWriter[Row] = HandedOver.writer(id)(add)

  /** Adds a row that a task passed to `foreach`. */
  private[stream] def add(batch: Long, row: Row): Unit = synchronized {
    batches(batch) = batches.getOrElse(batch, Vector.empty) :+ row
    notifyAll()
  }

  def rows: Vector[Row] = synchronized(batches.valuesIterator.flatten.toVector)
  def ids: Vector[Long] = synchronized(batches.keys.toVector)
  def byBatch: Vector[Vector[Row]] = synchronized(batches.values.toVector)
  def texts: Vector[String] = rows.map(Collected.text)

  /** The data of every row as a number, in ascending order. */
  def numbers: Vector[Int] = rows.map(Collected.number).sorted

  /** Returns when further rows are collected, at the latest after `limit`. */
  private[stream] def awaitBatch(limit: FiniteDuration): Unit = synchronized(wait(limit.toMillis))
}

object Collected {
  def text(row: Row): String = new String(row.getAs[Array[Byte]]("data"), UTF_8)
  def number(row: Row): Int = text(row).trim.toInt
}
