package org.sparkkinesis.kit.process

import java.lang.ProcessBuilder.Redirect
import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

/** Runs main classes in separate JVMs, with this JVM's class path and module options. */
object JavaProcess {

  /**
   * Options for a process that runs for seconds or minutes beside others on few processors, so that it starts fast.
   */
  val ShortLived: Seq[String] = Seq("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

  /**
   * Starts a JVM, which ends when its heap is full. Its standard output and input are pipes.
   *
   * @param heap
   *   for example `1g`
   * @param log
   *   the file that its standard error is appended to; without one it goes where this process's does
   * @param prefix
   *   a command that runs it, such as `taskset`
   */
  def start(
      main: String,
      arguments: Seq[String],
      heap: String,
      log: Option[Path] = None,
      options: Seq[String] = Nil,
      environment: Map[String, String] = Map.empty,
      prefix: Seq[String] = Nil
  ): Process = {
    val all = Seq(s"-Xmx$heap", "-XX:+ExitOnOutOfMemoryError") ++ options ++ moduleOptions
    val command = (prefix :+ java) ++ all ++ Seq("-cp", classPath, main) ++ arguments
    val errors = log.fold(Redirect.INHERIT)(path => Redirect.appendTo(path.toFile))
    val builder = new ProcessBuilder(command: _*).redirectError(errors)
    builder.environment.putAll(environment.asJava)
    builder.start()
  }

  def classPath: String = System.getProperty("java.class.path")

  /** Creates a folder that Spark's processes accept as SPARK_HOME, since all classes are on the class path. */
  def emptySparkHome(in: Path): Path = {
    Files.createDirectories(in.resolve("spark-home").resolve("jars"))
    in.resolve("spark-home")
  }

  /** The program that runs this JVM. */
  def java: String = Paths.get(System.getProperty("java.home"), "bin", "java").toString

  private def moduleOptions: Seq[String] = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.toSeq.filter(
    option => option.startsWith("--add-opens") || option.startsWith("-Djdk.reflect") || option.startsWith("-Dio.netty")
  )
}
