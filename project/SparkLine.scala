import scala.util.matching.Regex

import sbt._
import sbt.Keys._

/**
 * A line of Spark that one jar is made for. The build is for [[SparkLine.Spark4]] unless `-Dspark.line=…` selects
 * another one, whose classes are in target folders of their own.
 *
 * @param spark
 *   the version that the line is compiled against, its oldest one if that is enough
 */
final case class SparkLine(name: String, scala: String, spark: String) {

  /** The first numbers of the versions of Spark that the jar is for. */
  val versions: String = name.takeWhile(_ != '_')
  val scalaBinary: String = scala.split('.').take(2).mkString(".")

  def isDefault: Boolean = name == SparkLine.Spark4.name

  /** The end of the name of a published artifact. */
  def suffix: String = if (isDefault) s"_$scalaBinary" else s"-${versions}_$scalaBinary"
}

object SparkLine {
  val Spark4: SparkLine = SparkLine("4_2.13", "2.13.18", "4.2.0")

  private val all =
    Seq(Spark4, SparkLine("3.5_2.12", "2.12.21", "3.5.4"), SparkLine("3.5_2.13", Spark4.scala, "3.5.4"))

  val current: SparkLine = {
    val wanted = sys.props.getOrElse("spark.line", Spark4.name)
    val known = all.map(_.name).mkString(", ")
    all.find(_.name == wanted).getOrElse(sys.error(s"there is no Spark line '$wanted'; the lines are $known"))
  }

  private val isScala212 = current.scalaBinary == "2.12"

  /** Packages of scala-collection-compat, which the jar relocates. */
  val addedPackages: Seq[String] =
    if (isScala212) "scala.jdk" +: Seq("collection", "util.control", "util.matching").map(name => s"scala.$name.compat")
    else Nil

  /** Classes of scala-collection-compat in packages of Scala, with those that are nested in them. */
  val addedClasses: Seq[String] =
    if (isScala212) Seq("Using", "ChainingOps", "ChainingSyntax", "chaining").map("scala.util." + _) :+
      "scala.annotation.unused"
    else Nil

  /** Settings of all projects. */
  val settings: Seq[Setting[_]] = Seq(
    target := {
      val folder = baseDirectory.value / "target"
      if (current.isDefault) folder else folder / s"spark-${current.name}"
    },
    scalacOptions ++= compilerOptions
  ) ++ (if (isScala212) forScala212 else Nil)

  /** The sources that differ between lines, and the file by which the jar knows its line. */
  val ofConnector: Seq[Setting[_]] = inConfig(Compile)(Seq(
    unmanagedSourceDirectories += sourceDirectory.value / s"scala-spark-${current.versions}",
    resourceGenerators += Def.task {
      val file = resourceManaged.value / "org" / "sparkkinesis" / "line.properties"
      val properties = Seq(
        "artifact" -> s"spark-kinesis${current.suffix}",
        "version" -> version.value,
        "spark" -> current.versions,
        "scala" -> current.scalaBinary
      )
      IO.writeLines(file, properties.map { case (name, value) => s"$name=$value" })
      Seq(file)
    }.taskValue
  ))

  private def compilerOptions: Seq[String] = Seq(
    "-deprecation",
    "-feature",
    "-unchecked",
    "-Xsource:3",
    // One jar for several Spark lines: forwarders would name types that older lines lack.
    "-Xmixin-force-forwarders:false"
  ) ++ (
    if (isScala212) Seq("-release", "17")
    else Seq("-release:17", "-Xlint:_,-byname-implicit", "-Wunused:_", "-Wdead-code") ++
      // The other lines may have deprecated what Spark 4 has, and the other way round.
      (if (current.isDefault) Seq("-Werror") else Nil)
  )

  /**
   * The sources are written for Scala 2.13. What Scala's library lacks in 2.12 is in
   * `connector-scala/core/src/main/scala-2.12`, and the compiler of 2.12 gets copies of the sources that import it.
   */
  private def forScala212: Seq[Setting[_]] = (libraryDependencies += Dependencies.collectionCompat) +:
    Seq(Compile, Test).flatMap(inConfig(_)(Seq(
      sources := {
        val folder = target.value / "sources-2.12" / configuration.value.name
        val (scala, other) = sources.value.partition(_.getName.endsWith(".scala"))
        scala.map(copyFor212(_, (ThisBuild / baseDirectory).value, folder)) ++ other
      }
    )))

  private def copyFor212(file: File, root: File, folder: File): File = {
    val copy = folder / IO.relativize(root, file).getOrElse(file.getName)
    val text = if (file.getPath.contains("scala-2.12")) IO.read(file) else for212(IO.read(file))
    if (!copy.exists || IO.read(copy) != text) IO.write(copy, text)
    copy
  }

  private val packageClause = "(?m)^package (org\\..*)$".r

  /** `s"…"`, whose quotation marks cannot be escaped in 2.12. */
  private val interpolated = "\\b[sf]\"(?:[^\"\\\\\\n]|\\\\.)*\"".r

  private val replaced = Seq(
    "scala.collection.immutable.ArraySeq" -> "scala.collection.compat.immutable.ArraySeq",
    "scala.collection.immutable.VectorMap" -> "org.sparkkinesis.scala212.VectorMap",
    "scala.jdk.OptionConverters" -> "org.sparkkinesis.scala212.OptionConverters",
    "mutable.ArrayDeque" -> "org.sparkkinesis.scala212.ArrayDeque",
    "Iterator.empty[" -> "org.sparkkinesis.scala212.emptyIterator[",
    "Array.copyOf(" -> "org.sparkkinesis.scala212.arrayCopyOf(",
    ".to(SortedMap)" -> ".toSortedMap"
  )

  private def for212(text: String): String = {
    val imports = "package $1; import scala.collection.compat._, org.sparkkinesis.scala212._"
    val renamed = replaced.foldLeft(packageClause.replaceFirstIn(text, imports)) { case (before, (from, to)) =>
      before.replace(from, to)
    }
    interpolated.replaceAllIn(renamed, found => Regex.quoteReplacement(found.matched.replace("\\\"", "${'\"'}")))
  }
}
