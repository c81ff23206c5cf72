package org.sparkkinesis.bench.peers

import java.nio.file.{Path, Paths}

/**
 * An engine whose connector is measured.
 *
 * @param project
 *   its project in the build, or `None` for this connector, which is built with the benchmarks
 * @param folder
 *   the folder of its project
 * @param main
 *   its main class
 * @param reads
 *   its reading connectors by the name of their rounds, which begins with their kind and the engine's name
 * @param writes
 *   the name of the rounds that write, if it writes
 * @param isSlowToStart
 *   whether a round begins with a minute of preparation
 */
final private[peers] case class Engine(
    name: String,
    project: Option[String],
    folder: Path,
    main: String,
    reads: Seq[(String, String)],
    writes: Option[String],
    isSlowToStart: Boolean = false
)

private[peers] object Engine {
  private val Folder = Paths.get("bench")
  private val Package = "org.sparkkinesis.bench.peer"

  val Ours: Engine = Engine(
    "ours",
    None,
    Folder,
    "org.sparkkinesis.bench.peers.ConnectorPeer",
    Seq("polling_ours" -> "polling", "efo_ours" -> "efo"),
    Some("put_ours")
  )

  /** The engines that are downloaded. */
  val Released: Seq[Engine] = Seq(
    Engine(
      "flink",
      Some("peerFlink"),
      Folder.resolve("peers").resolve("flink"),
      s"$Package.FlinkPeer",
      Seq("polling_flink" -> "polling", "polling_flink_older" -> "older", "efo_flink" -> "efo"),
      Some("put_flink")
    ),
    Engine(
      "jet",
      Some("peerJet"),
      Folder.resolve("peers").resolve("jet"),
      s"$Package.JetPeer",
      Seq("polling_jet" -> "polling"),
      Some("put_jet")
    ),
    Engine(
      "kcl",
      Some("peerKcl"),
      Folder.resolve("peers").resolve("kcl"),
      s"$Package.KclPeer",
      Seq("polling_kcl" -> "polling", "efo_kcl" -> "efo"),
      writes = None,
      isSlowToStart = true
    )
  )

  /** Flink with the connector of a checkout. Its rounds count as Flink's. */
  val FlinkSources: Engine = Engine(
    "flink-sources",
    Some("peerFlinkSources"),
    Folder.resolve("peers").resolve("flink-sources"),
    s"$Package.FlinkSourcesPeer",
    Seq("polling_flink_sources" -> "polling", "efo_flink_sources" -> "efo"),
    Some("put_flink_sources")
  )
}
