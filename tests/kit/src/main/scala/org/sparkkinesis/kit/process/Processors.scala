package org.sparkkinesis.kit.process

import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Paths}

/** Binds processes to processors with `taskset`; does nothing where it is not installed. */
object Processors {
  private val Taskset = Paths.get("/usr/bin/taskset")

  /** The command prefix that starts a process on one processor. */
  def on(processor: Int): Seq[String] = taskset("-c", processor.toString)

  /** Moves all threads of this process to one processor, if it exists. */
  def moveSelfTo(processor: Int): Unit = {
    val command = taskset("-a", "-c", "-p", processor.toString, ProcessHandle.current.pid.toString)
    if (command.nonEmpty && Runtime.getRuntime.availableProcessors > processor) {
      val exit = new ProcessBuilder(command: _*).redirectOutput(Redirect.DISCARD).start().waitFor()
      if (exit != 0) System.err.println(s"taskset exited with $exit; this process runs on any processor")
    }
  }

  private def taskset(arguments: String*): Seq[String] =
    if (Files.isExecutable(Taskset)) Taskset.toString +: arguments else Nil
}
