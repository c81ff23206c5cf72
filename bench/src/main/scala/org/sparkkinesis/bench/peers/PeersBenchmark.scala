package org.sparkkinesis.bench.peers

import java.nio.file.{Path, Paths}

import scala.concurrent.duration._

import org.sparkkinesis.bench.sink.{PutLoop, WriteTarget}
import org.sparkkinesis.bench.source.ReadingStream
import org.sparkkinesis.bench.{Measured, MeasuredLoop, Meter, Rounds}
import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/**
 * Compares this connector with the connectors of other engines, with the same data on one emulator: `PeersBenchmark
 * [--seconds N] [--records N] [--cores 1|2] [--engines flink,jet,kcl] [--only NAME,NAME]`. Each engine has a process of
 * its own and its payloads as byte arrays; this connector also builds all columns. The rounds run in turn (see
 * [[org.sparkkinesis.bench.Rounds]]), and a round is measured from the first counted record to the last.
 *
 * The emulator has the first processor. With `--cores 1`, the default, the engines have only the second one.
 *
 * The projects of the engines are built by this benchmark and by nothing else, so that only this benchmark downloads
 * them.
 *
 * The last line is one JSON object. A ratio such as `ours_vs_flink_polling` compares with the highest median rate of
 * the engine's connectors of this kind, and `…_cpu` compares the CPU time per record with the same connector.
 */
object PeersBenchmark {
  import Rounds._

  private val Bytes = 200
  private val Shards = 4
  private val Folder = Paths.get("bench")

  /**
   * @param project
   *   its project in the build, or `None` for this connector, which is built with the benchmarks
   * @param reads
   *   its reading connectors by the name of their rounds, which begins with their kind and the engine's name
   */
  final private case class Engine(
      name: String,
      project: Option[String],
      folder: Path,
      main: String,
      reads: Seq[(String, String)],
      writes: Boolean
  )

  private def other(name: String, main: String, reads: Seq[(String, String)], writes: Boolean) =
    Engine(name, Some(s"peer${name.capitalize}"), Folder.resolve("peers").resolve(name), main, reads, writes)

  private val ours = Engine(
    "ours",
    None,
    Folder,
    "org.sparkkinesis.bench.peers.ConnectorPeer",
    Seq("polling_ours" -> "polling", "efo_ours" -> "efo"),
    writes = true
  )

  private val others = Seq(
    other(
      "flink",
      "org.sparkkinesis.bench.peer.FlinkPeer",
      Seq("polling_flink" -> "polling", "polling_flink_older" -> "older", "efo_flink" -> "efo"),
      writes = true
    ),
    other("jet", "org.sparkkinesis.bench.peer.JetPeer", Seq("polling_jet" -> "polling"), writes = true),
    other(
      "kcl",
      "org.sparkkinesis.bench.peer.KclPeer",
      Seq("polling_kcl" -> "polling", "efo_kcl" -> "efo"),
      writes = false
    )
  )

  def main(args: Array[String]): Unit = {
    val arguments = Arguments(args)
    val records = arguments.number("records", 4000000)
    val names = arguments.text("engines", others.map(_.name).mkString(",")).split(',').toSet
    val engines = ours +: others.filter(engine => names(engine.name))
    build(engines.flatMap(_.project))
    val processor = Option.when(arguments.number("cores", 1) == 1)(1)
    val emulator = new WriteTarget(quotas = false, heap = "6g")
    val running = scala.collection.mutable.ArrayBuffer.empty[PeerProcess]
    try {
      ReadingStream.load(emulator.sdk, Shards, records)
      val loops = engines.flatMap { engine =>
        lazy val process = {
          val started = new PeerProcess(engine.name, engine.folder, engine.main, emulator.endpoint, processor)
          running += started
          started
        }
        engine.reads.map { case (loop, connector) => new ReadLoop(loop, process, connector) } ++
          Option.when(engine.writes)(new WriteLoop(s"put_${engine.name}", process, emulator))
      }
      val measured = Seq("polling", "efo", "put").map(kind => chosen(arguments, loops.filter(_.name.startsWith(kind))))
        .filter(_.nonEmpty).flatMap { ofKind =>
          warmUp(ofKind, records.toLong, Duration.Zero)
          measure(ofKind, records.toLong, arguments.seconds(180) / 3, Duration.Zero)
        }
      println(Json.render(Json.obj(ratios(measured) ++ json(measured): _*)))
    } finally {
      running.foreach(_.close())
      emulator.close()
    }
  }

  /** Downloads and compiles the engines. */
  private def build(projects: Seq[String]): Unit = if (projects.nonEmpty) {
    val command = Seq("./sbt", "--error") ++ projects.map(_ + "/launchFile")
    val exit = new ProcessBuilder(command: _*).inheritIO().start().waitFor()
    if (exit != 0) throw new IllegalStateException(s"the engines' projects cannot be built: $command exited with $exit")
  }

  private def ratios(measured: Seq[(String, Seq[Measured])]): Seq[(String, Json)] = {
    def rate(rounds: Seq[Measured]) = Meter.median(rounds.map(_.perSecond))
    def cpu(rounds: Seq[Measured]) = Meter.median(rounds.map(_.cpuMicros))
    for {
      engine <- others
      (kind, suffix) <- Seq("polling" -> "polling", "efo" -> "efo", "put" -> "sink")
      (_, own) <- measured.filter(_._1 == s"${kind}_ours")
      (_, best) <- measured.filter(_._1.startsWith(s"${kind}_${engine.name}")).maxByOption(one => rate(one._2)).toSeq
      ratio <- Seq(
        s"ours_vs_${engine.name}_$suffix" -> number(rate(own) / rate(best), 3),
        s"ours_vs_${engine.name}_${suffix}_cpu" -> number(cpu(own) / cpu(best), 3)
      )
    } yield ratio
  }

  final private class ReadLoop(val name: String, process: => PeerProcess, connector: String) extends MeasuredLoop {
    override def run(records: Long): Measured = process.round(s"read $connector ${ReadingStream.Name} $records")
  }

  /** Writes to a new stream, which is deleted afterwards. */
  final private class WriteLoop(val name: String, process: => PeerProcess, target: WriteTarget) extends MeasuredLoop {
    override def run(records: Long): Measured = {
      val stream = s"$name-${System.nanoTime()}"
      target.createStream(stream, PutLoop.Shards)
      try process.round(s"write $stream $records $Bytes")
      finally target.deleteStream(stream)
    }
  }
}
