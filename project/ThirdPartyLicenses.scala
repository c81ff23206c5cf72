import java.util.zip.ZipFile

import sbt._
import sbt.Keys._

import scala.collection.JavaConverters._

/**
 * The license texts and notices of everything that the published jar contains, in `META-INF/licenses/ORGANIZATION/`:
 * those that the libraries carry, and those of `project/licenses` for the libraries that carry none. A library without
 * a license text fails the build.
 */
object ThirdPartyLicenses {
  private val Legal = "META-INF/((?:[A-Za-z-]+-)?(?:LICENSE|NOTICE)(?:\\.txt)?)".r

  /** Libraries under the Apache License whose jars carry no copy of it. */
  private val apacheWithoutText = Set("io.netty", "org.scala-lang.modules", "software.amazon.eventstream")

  val settings: Seq[Setting[_]] = Seq(
    Compile / resourceGenerators += Def.task {
      val folder = (Compile / resourceManaged).value / "META-INF" / "licenses"
      val root = (ThisBuild / baseDirectory).value
      val jars = (Runtime / externalDependencyClasspath).value.flatMap { jar =>
        jar.get(moduleID.key).filter(_.organization != "org.scala-lang").map(_.organization -> jar.data)
      }
      IO.delete(folder)
      jars.groupBy(_._1).toSeq.flatMap { case (organization, libraries) =>
        write(folder / organization, texts(libraries.map(_._2)) ++ added(root, organization))
      }
    }.taskValue
  )

  /** Name to text; the name of a text that differs from library to library has the library's name in front. */
  private def texts(jars: Seq[File]): Seq[(String, String)] = {
    val all = jars.sortBy(_.getName).flatMap(jar => legal(jar).map { case (name, text) => (name, text, jar) })
    all.groupBy(_._1).toSeq.flatMap { case (name, found) =>
      val byText = found.groupBy(_._2).values.map(_.head).toSeq
      if (byText.size == 1) Seq(name -> found.head._2)
      else byText.map { case (_, text, jar) => s"${jar.getName.stripSuffix(".jar")}-$name" -> text }
    }
  }

  private def legal(jar: File): Seq[(String, String)] = {
    val zip = new ZipFile(jar)
    try zip.entries.asScala.toList.flatMap { entry =>
        Legal.findFirstMatchIn(entry.getName).filter(_.matched == entry.getName).map { found =>
          found.group(1) -> IO.readStream(zip.getInputStream(entry))
        }
      }
    finally zip.close()
  }

  private def added(root: File, organization: String): Seq[(String, String)] = {
    val apache = if (apacheWithoutText(organization)) Seq("LICENSE.txt" -> IO.read(root / "LICENSE")) else Nil
    apache ++ (root / "project" / "licenses" / organization * AllPassFilter).get.map(file =>
      file.getName -> IO.read(file)
    )
  }

  private def write(folder: File, texts: Seq[(String, String)]): Seq[File] = {
    if (!texts.exists(_._1.contains("LICENSE")))
      sys.error(s"${folder.getName} carries no license text; add it to project/licenses/${folder.getName}")
    texts.map { case (name, text) =>
      IO.write(folder / name, text)
      folder / name
    }
  }
}
