package org.sparkkinesis.bench.latency

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.streaming.StreamingQuery

import org.sparkkinesis.bench.{Meter, Rounds}
import org.sparkkinesis.json.Json

/**
 * A part of a benchmark, of which the first quarter is not counted. Its figures have its name.
 *
 * @param check
 *   fails if the benchmark cannot go on
 */
final class Phase(name: String, seconds: Int, check: () => Unit) {

  /** Measures the rows that a query hands over, in batches of 30 seconds. */
  def ofQuery(start: LiveQueries.Start): Seq[(String, Json)] = ofQuery(start, SeenRows(name).latencies)

  /** @param arrived the records that the query has handed over */
  def ofQuery(start: LiveQueries.Start, arrived: Latencies): Seq[(String, Json)] = {
    val query = start(name, "30 seconds")
    try measure(arrived)(awaitIn(query))
    finally query.stop()
  }

  /** Measures records that arrive without a query. */
  def ofRecords(arrived: Latencies): Seq[(String, Json)] = measure(arrived)(TimeUnit.MILLISECONDS.sleep)

  /** Measures the boundaries between batches of one second. */
  def gaps(start: LiveQueries.Start): Seq[(String, Json)] = {
    val query = start(name, "1 second")
    try {
      awaitIn(query)(seconds * 250L)
      val after = SeenRows(name).lastBatch
      awaitIn(query)(seconds * 750L)
      val found = SeenRows(name).gaps(after)
      require(found.nonEmpty, "there was only one batch")
      def percentile(p: Int) = Rounds.number(found((found.size - 1) * p / 100), 1)
      println(s"boundary_gap: ${found.mkString(" ")}")
      Seq(
        s"${name}_gap_p50_ms" -> percentile(50),
        s"${name}_gap_p99_ms" -> percentile(99),
        s"${name}_gaps" -> Rounds.number(found.size.toDouble, 0)
      )
    } finally query.stop()
  }

  private def measure(arrived: Latencies)(await: Long => Unit): Seq[(String, Json)] = {
    await(seconds * 250L)
    val (begun, before, meter) = (TimedRecords.epochMicros, arrived.count, new Meter)
    await(seconds * 750L)
    val records = arrived.count - before
    check()
    require(records > 0, s"no record arrived in phase $name")
    val cpu = meter.read(records).cpuMicros
    val percentile = arrived.since(begun)
    val figures = Seq("p50" -> 50.0, "p99" -> 99.0, "p999" -> 99.9).map { case (text, p) =>
      s"${name}_${text}_ms" -> Rounds.number(percentile(p), 1)
    } :+ (s"${name}_cpu_micros" -> Rounds.number(cpu, 1))
    println(s"$records records: " + figures.map { case (figure, value) => s"$figure ${value.value}" }.mkString(", "))
    figures
  }

  private def awaitIn(query: StreamingQuery)(millis: Long): Unit =
    require(!query.awaitTermination(millis), s"the query of phase $name ended")
}
