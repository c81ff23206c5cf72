package org.sparkkinesis.aws.network

import java.io.File
import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Runs a main class in a process with an environment of its own. */
object ChildProcess {

  /** Returns the lines that it prints. */
  def run(main: String, environment: Seq[(String, String)], jvm: Seq[String], arguments: String*): Seq[String] = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val launch = Files.createTempFile("child", ".args")
    try {
      val options = Seq("-Xmx512m") ++ jvm ++ Seq("-cp", System.getProperty("java.class.path"))
      Files.writeString(launch, options.map(text => "\"" + text + "\"").mkString("\n"))
      val builder = new ProcessBuilder((Seq(java, s"@$launch", main) ++ arguments).asJava)
      environment.foreach { case (key, value) => builder.environment.put(key, value) }
      val process = builder.redirectError(ProcessBuilder.Redirect.to(new File("/dev/null"))).start()
      Using.resource(process.inputReader)(_.lines.iterator.asScala.toList)
    } finally Files.delete(launch)
  }
}
