package org.sparkkinesis.chaos.process

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

/** A main class in a JVM of its own, with this JVM's class path and module options. */
object ChildJvm {

  /**
   * @param heap
   *   for example `1g`
   * @param log
   *   where its standard error goes, appended; its standard output and input are pipes
   */
  def start(
      main: String,
      arguments: Seq[String],
      heap: String,
      log: Path,
      environment: Map[String, String] = Map.empty
  ): Process = {
    val command = Seq(java, s"-Xmx$heap") ++ ShortLived ++ moduleOptions ++ Seq("-cp", classPath, main) ++ arguments
    val builder = new ProcessBuilder(command: _*).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile))
    builder.environment.putAll(environment.asJava)
    builder.start()
  }

  /** These processes live for seconds or minutes, several on few processors: what they must do is start fast. */
  private val ShortLived = Seq("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

  def classPath: String = System.getProperty("java.class.path")

  /** What a process of Spark's takes for its installation, when everything is on the class path already. */
  def emptySparkHome(in: Path): Path = {
    Files.createDirectories(in.resolve("spark-home").resolve("jars"))
    in.resolve("spark-home")
  }

  private def java: String = Paths.get(System.getProperty("java.home"), "bin", "java").toString

  private def moduleOptions: Seq[String] = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq.filter(
    option => option.startsWith("--add-opens") || option.startsWith("-Djdk.reflect") || option.startsWith("-Dio.netty")
  )
}
