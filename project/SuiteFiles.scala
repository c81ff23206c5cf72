import java.io.File.pathSeparator

import sbt._
import sbt.Keys._

/**
 * Files for running compiled suites apart from sbt, with the published jar and another version of Spark than the one
 * that the build compiles against.
 */
object SuiteFiles {
  val suiteFiles = taskKey[Unit]("Writes JVM options and class path of the suites, without the connector and Spark")

  /** @param libraries the project whose libraries the suites need besides Spark's */
  def settings(libraries: Project): Seq[Setting[_]] = Seq(
    suiteFiles := {
      val tests = (ThisBuild / baseDirectory).value / "tests"
      val classes = (Test / fullClasspath).value.files.filter(folder =>
        folder.isDirectory && (folder.getName == "test-classes" || folder.relativeTo(tests).nonEmpty)
      )
      // Spark has Scala's own library.
      val jars = (libraries / Compile / externalDependencyClasspath).value.files
        .filterNot(_.getName.startsWith("scala-library"))
      IO.writeLines(target.value / "jvm.args", JavaOptions.forSpark)
      IO.write(target.value / "classes.path", classes.mkString(pathSeparator))
      IO.write(target.value / "libraries.path", jars.mkString(pathSeparator))
    }
  )
}
