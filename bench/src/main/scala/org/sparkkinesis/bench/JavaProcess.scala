package org.sparkkinesis.bench

import java.lang.management.ManagementFactory
import java.nio.file.Paths

import scala.jdk.CollectionConverters._

/** A main class in a JVM of its own, with this JVM's class path and module options. Its errors go where this one's do. */
object JavaProcess {

  /**
   * @param heap
   *   for example `4g`; a JVM that runs out of it ends
   * @param prefix
   *   a command that runs it, such as `taskset`
   */
  def start(main: String, heap: String, arguments: Seq[String], prefix: Seq[String] = Nil): Process = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val options = Seq(s"-Xmx$heap", "-XX:+ExitOnOutOfMemoryError") ++ moduleOptions
    val command = (prefix :+ java) ++ options ++ Seq("-cp", System.getProperty("java.class.path"), main) ++ arguments
    new ProcessBuilder(command: _*).redirectError(ProcessBuilder.Redirect.INHERIT).start()
  }

  private def moduleOptions: Seq[String] = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq.filter(
    option => option.startsWith("--add-opens") || option.startsWith("-Djdk.reflect") || option.startsWith("-Dio.netty")
  )
}
