import java.io.File.pathSeparator

import sbt._
import sbt.Keys._

/** For mains that run in a JVM of their own, apart from sbt: `java @FILE MAIN …`. */
object Launching {
  val launchFile = taskKey[File]("Writes JVM options and class path of the project for java @FILE")

  val settings: Seq[Setting[_]] = Seq(
    launchFile := {
      val file = target.value / "launch.args"
      val classPath = (Runtime / fullClasspath).value.files.mkString(pathSeparator)
      IO.writeLines(file, JavaOptions.forSpark ++ (Runtime / javaOptions).value ++ Seq("-cp", "\"" + classPath + "\""))
      file
    }
  )
}
