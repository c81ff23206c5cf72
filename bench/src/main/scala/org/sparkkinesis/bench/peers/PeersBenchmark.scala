package org.sparkkinesis.bench.peers

import java.nio.file.{Files, Paths}

import scala.collection.mutable

import org.sparkkinesis.bench.sink.{PutLoop, WriteTarget}
import org.sparkkinesis.bench.source.ReadingStream
import org.sparkkinesis.bench.{LoopGroup, Measured, MeasuredLoop, Rounds}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Compares this connector with the connectors of other engines, with the same data on one emulator: `PeersBenchmark
 * [--seconds N] [--records N] [--cores 1|2] [--engines flink,jet,kcl] [--flink-sources PATH]`, and the arguments of
 * [[org.sparkkinesis.bench.Rounds]]. Each engine has a process of its own and its payloads as byte arrays; this
 * connector also builds all columns. A round is measured from the first counted record to the last.
 *
 * The emulator has the first processor. With `--cores 1`, the default, the engines have only the second one.
 *
 * The projects of the engines are built by this benchmark and by nothing else, so that only this benchmark downloads
 * them. `--flink-sources` also compiles and measures the connector of a checkout of `apache/flink-connector-aws`, for
 * releases that a registry does not have.
 *
 * The last line is one JSON object. A ratio such as `ours_vs_flink_polling` compares with the highest median rate of
 * the engine's connectors of this kind, and `…_cpu` compares the CPU time per record with the same connector.
 * `ours_vs_jet` and `ours_vs_kcl` are for polling. A name that ends with `_tls` is the same over TLS.
 */
object PeersBenchmark {
  private val Bytes = 200
  private val Shards = 4

  /** The prefixes of rounds, and the ends of the names of their ratios. */
  private val Kinds = Seq("polling" -> "polling", "efo" -> "efo", "put" -> "sink")

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val records = arguments.number("records", 4000000)
    val sources = Some(arguments.text("flink-sources", "")).filter(_.nonEmpty)
    val engines = chosen(arguments) ++ sources.map(_ => Engine.FlinkSources)
    build(engines.flatMap(_.project), sources)
    val emulator = new WriteTarget(quotas = false, heap = "6g", tls = Rounds.withTls(arguments))
    val processor = Option.when(arguments.number("cores", 1) == 1)(1)
    val running = mutable.ArrayBuffer.empty[PeerProcess]
    try {
      ReadingStream.load(emulator.sdk, Shards, records)
      val loops = engines.flatMap { engine =>
        lazy val process = {
          val trust = emulator.trust.toSeq.flatMap(_.options)
          val started = new PeerProcess(engine.name, engine.folder, engine.main, processor, trust)
          running += started
          started
        }
        routes(emulator).flatMap { case (endpoint, suffix) =>
          engine.reads.map { case (loop, connector) =>
            new ReadLoop(loop + suffix, process, connector, endpoint, engine.isSlowToStart)
          } ++ engine.writes.map(loop => new WriteLoop(loop + suffix, process, endpoint, emulator))
        }
      }
      val groups = for ((_, suffix) <- routes(emulator); (kind, _) <- Kinds)
        yield LoopGroup(loops.filter(loop => loop.name.startsWith(kind) && Rounds.split(loop.name)._2 == suffix))
      val measured = Rounds.run(arguments, groups, records.toLong, arguments.seconds(180))(())
      println(Json.render(Json.obj(ratios(measured) ++ Rounds.figures(measured): _*)))
    } finally {
      running.foreach(_.close())
      emulator.close()
    }
  }

  private def routes(emulator: WriteTarget): Seq[(String, String)] =
    (emulator.endpoint -> "") +: emulator.secure.toSeq.map(_.endpoint -> Rounds.OverTls)

  private def chosen(arguments: Arguments): Seq[Engine] = {
    val names = arguments.text("engines", Engine.Released.map(_.name).mkString(",")).split(',').filter(_.nonEmpty).toSet
    val unknown = names -- Engine.Released.map(_.name)
    require(unknown.isEmpty, s"--engines has no ${unknown.mkString(", ")}")
    Engine.Ours +: Engine.Released.filter(engine => names(engine.name))
  }

  /** Downloads and compiles the engines. */
  private def build(projects: Seq[String], sources: Option[String]): Unit = if (projects.nonEmpty) {
    val checkout = sources.map(path => Paths.get(path).toAbsolutePath.normalize)
    checkout.foreach(path => require(Files.isDirectory(path), s"--flink-sources: there is no folder $path"))
    val command =
      Seq("./sbt", "--error") ++ checkout.map(path => s"-Dflink.sources=$path") ++ projects.map(_ + "/launchFile")
    val exit = new ProcessBuilder(command: _*).inheritIO().start().waitFor()
    if (exit != 0) throw new IllegalStateException(s"the engines' projects cannot be built: $command exited with $exit")
  }

  private def ratios(measured: Seq[(String, Seq[Measured])]): Seq[(String, Json)] = for {
    (_, tls) <- Seq("plain" -> "", "tls" -> Rounds.OverTls)
    ofRoute = measured.filter { case (name, _) => Rounds.split(name)._2 == tls }
    engine <- Engine.Released
    (kind, suffix) <- Kinds
    (_, own) <- ofRoute.filter(_._1 == s"${kind}_ours$tls")
    ofEngine = ofRoute.filter(_._1.startsWith(s"${kind}_${engine.name}"))
    (_, best) <- ofEngine.maxByOption { case (_, rounds) => Rounds.rate(rounds) }.toSeq
    name = s"ours_vs_${engine.name}" + (if (kind == "polling" && engine.name != "flink") "" else s"_$suffix")
    ratio <- Seq(
      s"$name$tls" -> Rounds.number(Rounds.rate(own) / Rounds.rate(best), 3),
      s"${name}_cpu$tls" -> Rounds.number(Rounds.cpu(own) / Rounds.cpu(best), 3)
    )
  } yield ratio

  final private class ReadLoop(
      val name: String,
      process: => PeerProcess,
      connector: String,
      endpoint: String,
      override val isSlowToStart: Boolean
  ) extends MeasuredLoop {
    override def run(records: Long): Measured =
      process.round(s"read $connector $endpoint ${ReadingStream.Name} $records")
  }

  /** Writes to a new stream, which is deleted afterwards. */
  final private class WriteLoop(val name: String, process: => PeerProcess, endpoint: String, target: WriteTarget)
      extends MeasuredLoop {
    override def run(records: Long): Measured = {
      val stream = s"$name-${System.nanoTime()}"
      target.createStream(stream, PutLoop.Shards)
      try process.round(s"write $endpoint $stream $records $Bytes")
      finally target.deleteStream(stream)
    }
  }
}
