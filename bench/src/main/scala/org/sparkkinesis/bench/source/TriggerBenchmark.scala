package org.sparkkinesis.bench.source

import scala.concurrent.duration._

import org.sparkkinesis.consume.TriggeredReading
import org.sparkkinesis.consume.spill.SizesOfFiles
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.model.KinesisQuotas.Shard.ReadBytesPerSecond

/**
 * Measures which part of the read quota of its shards a polling query takes with a long time between its batches:
 * `TriggerBenchmark [--shards N] [--buffer MIB]`. The time is virtual, and the shards always have records. A batch that
 * takes five minutes delays the next one like a trigger of five minutes.
 *
 * The last line is one JSON object with `kept_up_ratio` for each interval in seconds, and the smallest batch divided by
 * the largest one, with and without local files for records that memory cannot hold.
 */
object TriggerBenchmark {
  private val Intervals = Seq(1, 10, 60, 300, 600, 3600)
  private val Batches = 5
  private val BatchesOfHours = 3
  private val DiskBytes = 32L << 30

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val shards = arguments.number("shards", 2)
    val buffer = arguments.number("buffer", 64).toLong << 20
    val results = Seq("without_files" -> 0L, "with_files" -> DiskBytes).map { case (name, disk) =>
      name -> Json.obj(Intervals.map(seconds => seconds.toString -> measure(shards, buffer, disk, seconds)): _*)
    }
    val all = ("shards" -> Json.num(shards.toLong)) +: ("buffer_bytes" -> Json.num(buffer)) +: results
    println(Json.render(Json.obj(all: _*)))
  }

  private def measure(shards: Int, buffer: Long, disk: Long, seconds: Int): Json = {
    val reading = new TriggeredReading(shards, buffer, disk, SizesOfFiles)
    // The first batch has the records from the start of the consumers.
    val batches = if (seconds < 3600) Batches else BatchesOfHours
    val taken = reading.run(batches, seconds.seconds, reads = false).tail
    val quota = ReadBytesPerSecond.toDouble * shards * seconds * taken.size
    Json.obj(
      "kept_up_ratio" -> ratio(taken.sum / quota),
      "smallest_to_largest_batch" -> ratio(taken.min.toDouble / math.max(1, taken.max)),
      "most_bytes_in_memory" -> Json.num(reading.mostBytes)
    )
  }

  private def ratio(value: Double): Json = Json.Num(BigDecimal(math.rint(value * 1000) / 1000))
}
