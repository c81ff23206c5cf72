import sbt._
import sbt.Keys._

/** DynamoDB Local keeps its tables by native code, which it wants to find in a folder. */
object SqliteLibrary {
  private val organization = "com.almworks.sqlite4java"
  private val platforms = Seq("libsqlite4java-linux-amd64" -> "so", "libsqlite4java-osx" -> "dylib")

  /** The settings of a project that uses DynamoDB Local in `Test`, or in `Runtime`. */
  def settings(in: Configuration): Seq[Setting[_]] = Seq(
    libraryDependencies ++= platforms.map { case (name, kind) =>
      organization % name % "1.0.392" % in artifacts Artifact(name, kind, kind)
    },
    in / javaOptions += {
      val folder = target.value / "sqlite"
      val libraries = artifactFilter(extension = "so" | "dylib")
      update.value.select(libraries).foreach(library => IO.copyFile(library, folder / library.getName))
      s"-Dsqlite4java.library.path=$folder"
    }
  )
}
