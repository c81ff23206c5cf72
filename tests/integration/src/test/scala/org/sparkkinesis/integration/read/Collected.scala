package org.sparkkinesis.integration.read

import scala.collection.mutable

import org.apache.spark.sql.{Dataset, Row}

/** What `foreachBatch` was given, by batch: a batch that runs again replaces its first attempt, as a transactional sink would. */
final class Collected {
  private val batches = mutable.TreeMap.empty[Long, Vector[Row]]
  private val again = mutable.HashMap.empty[Long, Vector[Row]]

  val sink: (Dataset[Row], Long) => Unit = (rows, id) => {
    val got = rows.collect().toVector
    synchronized {
      batches.get(id).foreach(first => again(id) = first)
      batches(id) = got
    }
  }

  def rows: Vector[Row] = synchronized(batches.valuesIterator.flatten.toVector)
  def ids: Vector[Long] = synchronized(batches.keys.toVector)
  def byBatch: Vector[Vector[Row]] = synchronized(batches.values.toVector)
  def texts: Vector[String] = rows.map(row => new String(row.getAs[Array[Byte]]("data"), "UTF-8"))
}
