package org.sparkkinesis.bench.scale

import scala.concurrent.duration._
import scala.util.Using

import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.EmulatorProcess

/**
 * Measures what the driver uses for a query with very many shards: `DriverBenchmark [--seconds N] [--shards N]`. Ten
 * invented executors report one chunk of ten rows per second and shard with the connector's reporter and protocol; the
 * driver plans a batch every 200 ms, and encodes its offset and tasks, which nobody runs. Garbage is what the driver's
 * threads allocate, without the threads of the executors.
 *
 * The last line is one JSON object: the figures of this query, of which the heap is given over time, and, in shorter
 * phases, how they change with the number of shards, with chunks and rows, and with the length of a batch.
 */
object DriverBenchmark {
  private val Trigger = 200.millis
  private val Samples = 10

  /** Shorter phases take this part of the time, and at least three batches. */
  private val Part = 20

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val shards = arguments.number("shards", 10000)
    val time = arguments.seconds(600).seconds
    val usual = DriverPhase(shards, chunks = 1, rows = 10, Trigger)
    Using.resource(new EmulatorProcess("2g", processor = Some(0))) { emulator =>
      def growth(name: String, phases: Seq[DriverPhase]): (String, Json) = name -> Json.Arr(phases.map { phase =>
        val short = (time / Part).max(phase.every * 3)
        told(phase.run(emulator, FiniteDuration(short.toNanos, NANOSECONDS), samples = 1))
      }.toVector)
      val main = usual.run(emulator, time, Samples)
      told(main)
      val grown = Seq(
        growth("by_shards", Seq(8, 4, 2).map(part => usual.copy(shards = shards / part))),
        growth("by_chunks", Seq(0.2, 5.0).map(chunks => usual.copy(chunks = chunks))),
        growth("by_rows", Seq(100, 1000).map(rows => usual.copy(rows = rows))),
        growth("by_batch_length", Seq(1.second, 5.seconds, 20.seconds).map(every => usual.copy(every = every)))
      )
      println(Json.render(Json.obj(main.json ++ main.overTime ++ grown: _*)))
    }
  }

  private def told(figures: DriverFigures): Json = {
    val json = Json.obj(figures.json: _*)
    println(Json.render(json))
    json
  }
}
