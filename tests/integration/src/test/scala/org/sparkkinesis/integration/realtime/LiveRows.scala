package org.sparkkinesis.integration.realtime

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

import scala.collection.mutable

import org.apache.spark.sql.{ForeachWriter, Row}

/** One row of a real-time query, and the batch that returned it. */
final case class LiveRow(batch: Long, key: String, number: Int, shard: String)

/** Collects the rows of a `ForeachWriter` in this JVM, in the order in which tasks handed them over. Thread-safe. */
final class LiveRows(id: String) {
  private val seen = mutable.ArrayBuffer.empty[LiveRow]
  @volatile private var pace: () => Unit = () => ()
  @volatile private var stop: Option[(Int, CountDownLatch, CountDownLatch)] = None

  def rows: Vector[LiveRow] = synchronized(seen.toVector)
  def numbers: Vector[Int] = rows.map(_.number)
  def writer: ForeachWriter[Row] = new LiveRows.Writer(id)

  /** Blocks the task that hands over this number until `release` is called. Returns a latch for its arrival. */
  def blockAt(number: Int): (CountDownLatch, CountDownLatch) = {
    val (arrived, release) = (new CountDownLatch(1), new CountDownLatch(1))
    stop = Some((number, arrived, release))
    (arrived, release)
  }

  /** Calls this in the task before each row is handed over. */
  def before(wait: () => Unit): Unit = pace = wait

  private def add(row: LiveRow): Unit = {
    pace()
    synchronized(seen += row)
    stop.filter(_._1 == row.number).foreach { case (_, arrived, release) =>
      arrived.countDown()
      release.await()
    }
  }
}

object LiveRows {
  private val all = new ConcurrentHashMap[String, LiveRows]

  def apply(id: String): LiveRows = all.computeIfAbsent(id, new LiveRows(_))

  final private class Writer(id: String) extends ForeachWriter[Row] {
    private var batch = 0L

    override def open(partitionId: Long, epochId: Long): Boolean = {
      batch = epochId
      true
    }

    override def process(row: Row): Unit = LiveRows(id).add(LiveRow(
      batch,
      row.getAs[String]("partitionKey"),
      new String(row.getAs[Array[Byte]]("data"), "UTF-8").trim.toInt,
      row.getAs[String]("shardId")
    ))

    override def close(failure: Throwable): Unit = ()
  }
}
