package org.sparkkinesis.bench

import java.io.{BufferedReader, InputStreamReader}
import java.nio.file.{Files, Paths}

/**
 * An emulator in a JVM of its own, without quotas unless asked for, on processor 0 where `taskset` can say so. Closing it ends it.
 *
 * @param heap
 *   for example `4g`
 */
final class EmulatorProcess(heap: String, quotas: Boolean = false) extends AutoCloseable {
  private val process = JavaProcess.start(
    "org.sparkkinesis.emulator.EmulatorMain",
    heap,
    Seq("--port", "0", "--quotas", if (quotas) "on" else "off"),
    EmulatorProcess.taskset("-c", "0")
  )

  /** Taken from the line that it prints when it is ready. */
  val endpoint: String = {
    val line = new BufferedReader(new InputStreamReader(process.getInputStream)).readLine()
    val found = Option(line).flatMap("\"endpoint\"\\s*:\\s*\"([^\"]+)\"".r.findFirstMatchIn(_))
    found.map(_.group(1)).getOrElse(throw new IllegalStateException(s"the emulator did not start; it said: $line"))
  }

  override def close(): Unit = {
    process.destroy()
    process.waitFor()
    ()
  }
}

object EmulatorProcess {
  private val Taskset = Paths.get("/usr/bin/taskset")

  /** Keeps this process on processor 1, away from the emulator's, where there are two and `taskset` can say so. */
  def pinSelf(): Unit = {
    val command = taskset("-a", "-c", "-p", "1", ProcessHandle.current.pid.toString)
    if (command.nonEmpty && Runtime.getRuntime.availableProcessors > 1) {
      val exit = new ProcessBuilder(command: _*).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor()
      if (exit != 0) System.err.println(s"taskset exited with $exit; this process runs on any processor")
    }
  }

  private def taskset(arguments: String*): Seq[String] =
    if (Files.isExecutable(Taskset)) Taskset.toString +: arguments else Nil
}
