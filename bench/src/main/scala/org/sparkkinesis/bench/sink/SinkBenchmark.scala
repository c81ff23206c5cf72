package org.sparkkinesis.bench.sink

import org.apache.spark.sql.SparkSession

import org.sparkkinesis.bench.{LoopGroup, Measured, Rounds}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments
import org.sparkkinesis.kit.process.Processors
import org.sparkkinesis.sink.SharedTimer

/**
 * Compares the sink with bare loops of SDK PutRecords with the same number of requests in flight and quotas off:
 * `SinkBenchmark [--seconds N] [--cores 1|2] [--megabytes N]`, and the arguments of [[org.sparkkinesis.bench.Rounds]].
 * `put_writer` is the sink without Spark, `put_aggregated` is the same with aggregation, and `put_sink` is Spark's
 * write of a DataFrame. A round writes `megabytes`. Names that end with `_tls` are the same over TLS. All are measured
 * warm.
 *
 * The emulator has the first processor. With `--cores 1`, the default, the loops have only the second one.
 */
object SinkBenchmark {
  private val Tasks = 2
  private val Sizes = Seq(200, 2048)

  /** A round of a loop takes a few seconds. */
  private val MegabytesPerRound = 320

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val seconds = arguments.seconds(120) / Sizes.size
    val bytes = arguments.number("megabytes", MegabytesPerRound) * 1000000L
    val emulator = new WriteTarget(quotas = false, tls = Rounds.withTls(arguments))
    val routes = (emulator.plain -> "") +: emulator.secure.toSeq.map(_ -> Rounds.OverTls)
    val bare = routes.map { case (route, suffix) => new BarePutClients(route.endpoint, suffix) }
    val spark = SparkSession.builder().master(s"local[$Tasks]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    // Keep the timer open, so that its thread is part of the measurement.
    val timer = SharedTimer.acquire()
    if (arguments.number("cores", 1) == 1) Processors.moveSelfTo(1)
    def groups(size: Int): Seq[LoopGroup] = routes.lazyZip(bare).map { case ((route, suffix), clients) =>
      LoopGroup(clients.putLoops(emulator, size) ++ Seq(
        new WriterLoop(s"put_writer$suffix", emulator, route, size, aggregated = false),
        new WriterLoop(s"put_aggregated$suffix", emulator, route, size, aggregated = true),
        new SparkWriteLoop(s"put_sink$suffix", emulator, route.endpoint, spark, size)
      ))
    }
    try {
      val bySize = Sizes.map { size =>
        val measured = Rounds.run(arguments, groups(size), bytes / (size + 40), seconds)(())
        val gains = routes.flatMap { case (_, suffix) => gain(measured, suffix) }
        size.toString -> Json.obj(Rounds.json(measured) ++ gains: _*)
      }
      println(Json.render(Json.obj(bySize: _*)))
    } finally {
      timer.close()
      spark.stop()
      bare.foreach(_.close())
      emulator.close()
    }
  }

  private def gain(measured: Seq[(String, Seq[Measured])], suffix: String): Option[(String, Json)] = {
    def rate(name: String) = measured.collectFirst { case (`name`, rounds) => Rounds.rate(rounds) }
    for (plain <- rate(s"put_writer$suffix"); packed <- rate(s"put_aggregated$suffix"))
      yield s"aggregated_vs_plain$suffix" -> Rounds.number(packed / plain, 3)
  }
}
