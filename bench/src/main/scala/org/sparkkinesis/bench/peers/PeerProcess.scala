package org.sparkkinesis.bench.peers

import java.io.{BufferedReader, PrintStream}
import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path, Paths}

import org.sparkkinesis.bench.Measured
import org.sparkkinesis.bench.peer.PeerServer
import org.sparkkinesis.kit.process.{JavaProcess, Processors}

/**
 * An engine's process, which runs rounds on command.
 *
 * @param folder
 *   the folder of the engine's project, in which its build has left `target/launch.args`
 * @param main
 *   its main class
 * @param processor
 *   the only processor that it may use, or `None` for all of them
 * @param options
 *   further options of its JVM
 */
final class PeerProcess(name: String, folder: Path, main: String, processor: Option[Int], options: Seq[String])
    extends AutoCloseable {
  private val log = {
    val logs = Files.createDirectories(Paths.get("bench", "target", "peers"))
    logs.resolve(s"$name.log")
  }
  private val process = {
    val command = processor.fold(Seq.empty[String])(Processors.on) ++
      Seq(JavaProcess.java, "-Xms2g", "-Xmx2g") ++ options ++
      Seq(s"@${folder.resolve("target").resolve("launch.args")}", main)
    new ProcessBuilder(command: _*).redirectError(Redirect.to(log.toFile)).start()
  }
  private val answers: BufferedReader = process.inputReader()
  private val commands = new PrintStream(process.getOutputStream, true)
  until(_ == PeerServer.Ready)

  /** Runs one round; fails if the engine does. */
  def round(command: String): Measured = {
    commands.println(command)
    PeerServer.parse(until(line => line.startsWith(PeerServer.Result) || line.startsWith("FAILED")))
      .fold(answer => throw new IllegalStateException(s"$name: '$command': $answer; see $log"), identity)
  }

  /** Skips what the engine prints for itself. */
  private def until(isWanted: String => Boolean): String =
    Iterator.continually(answers.readLine()).takeWhile(_ != null).find(isWanted)
      .getOrElse(throw new IllegalStateException(s"$name ended; see $log"))

  override def close(): Unit = {
    commands.close()
    process.waitFor(): Unit
  }
}
