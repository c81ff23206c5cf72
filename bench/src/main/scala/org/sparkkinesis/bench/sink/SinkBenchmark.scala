package org.sparkkinesis.bench.sink

import scala.concurrent.duration._

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.bench.{MeasuredLoop, Meter, Rounds}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.Processors
import org.sparkkinesis.sink.SharedTimer

/**
 * Compares the sink with bare loops of SDK PutRecords with the same number of requests in flight and quotas off:
 * `SinkBenchmark [--seconds N] [--cores 1|2] [--only NAME,NAME]`. `put_writer` is the sink without Spark,
 * `put_aggregated` is the same with aggregation, and `put_sink` is Spark's write of a DataFrame. All are measured warm
 * (see [[org.sparkkinesis.bench.Rounds]]).
 *
 * The emulator has the first processor. With `--cores 1`, the default, the loops have only the second one.
 */
object SinkBenchmark {
  private val Tasks = 2
  private val Sizes = Seq(200, 2048)

  /** A round of a loop takes a few seconds. */
  private val BytesPerRound = 320L * 1000 * 1000

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seconds = arguments.seconds(120) / Sizes.size
    val emulator = new WriteTarget(quotas = false)
    val bare = new BarePutClients(emulator.endpoint)
    val spark = SparkSession.builder().master(s"local[$Tasks]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    // Keep the timer open, so that its thread is part of the measurement.
    val timer = SharedTimer.acquire()
    if (arguments.number("cores", 1) == 1) Processors.moveSelfTo(1)
    def loops(size: Int): Seq[MeasuredLoop] =
      bare.putLoops(emulator, size) ++ Seq(
        new WriterLoop("put_writer", emulator, size, aggregated = false),
        new WriterLoop("put_aggregated", emulator, size, aggregated = true),
        new SparkWriteLoop("put_sink", emulator, spark, size)
      )
    try {
      val bySize = Sizes.map { size =>
        val chosen = Rounds.chosen(arguments, loops(size))
        val records = BytesPerRound / (size + 40)
        Rounds.warmUp(chosen, records, Duration.Zero)
        val measured = Rounds.measure(chosen, records, seconds, Duration.Zero)
        def rate(name: String) = measured.collectFirst { case (`name`, rounds) =>
          Meter.median(rounds.map(_.perSecond))
        }
        val gain = for (plain <- rate("put_writer"); packed <- rate("put_aggregated"))
          yield "aggregated_vs_plain" -> Rounds.number(packed / plain, 3)
        size.toString -> Json.obj(Rounds.json(measured) ++ gain: _*)
      }
      println(Json.render(Json.obj(bySize: _*)))
    } finally {
      timer.close()
      spark.stop()
      bare.close()
      emulator.close()
    }
  }
}
