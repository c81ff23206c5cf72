package org.sparkkinesis.bench.latency

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{ForeachWriter, Row}

/** The rows that the tasks of one query have handed over in this JVM. Thread-safe. */
final class SeenRows private (name: String) {
  import SeenRows._
  val latencies = new Latencies
  private val spans = new ConcurrentHashMap[(Long, Long), Span]

  /** Returns a writer whose column `data` contains a timed record. */
  def writer: ForeachWriter[Row] = new Writer(name)

  /**
   * Returns the milliseconds from the last row of each task to its first row in the next batch, sorted.
   *
   * @param after
   *   the first batch that counts
   */
  def gaps(after: Long): Vector[Double] = {
    val all = spans.asScala
    val found = for {
      ((batch, task), before) <- all if batch >= after
      next <- all.get((batch + 1, task))
    } yield (next.first - before.last) / 1e3
    found.toVector.sorted
  }

  /** The last batch with a row; -1 before the first row. */
  def lastBatch: Long = spans.keys.asScala.map(_._1).maxOption.getOrElse(-1L)
}

object SeenRows {
  private val all = new ConcurrentHashMap[String, SeenRows]

  def apply(name: String): SeenRows = all.computeIfAbsent(name, new SeenRows(_))

  /** The first and the last row of a task, in epoch microseconds. */
  final private class Span(val first: Long) {
    @volatile var last = first
  }

  final private class Writer(name: String) extends ForeachWriter[Row] {
    @transient private lazy val seen = SeenRows(name)
    private var task = (0L, 0L)
    private var span: Span = _

    override def open(partition: Long, batch: Long): Boolean = {
      task = (batch, partition)
      span = null
      true
    }

    override def process(row: Row): Unit = {
      val now = TimedRecords.epochMicros
      if (span == null) {
        span = new Span(now)
        seen.spans.put(task, span)
      }
      span.last = now
      seen.latencies.add(now, row.getAs[Array[Byte]]("data"))
    }

    override def close(failure: Throwable): Unit = ()
  }
}
