package org.sparkkinesis.reference

import java.nio.file.{Files, Path, Paths}

import org.sparkkinesis.config.EffectMatrix

/** The committed files that are generated from the declarations, and the command that renews them. */
object GeneratedFiles {
  val Command = "./dev generate"

  /** The root of the build, above the module in which the tests run. */
  lazy val root: Path = Iterator
    .iterate(Paths.get("").toAbsolutePath)(_.getParent)
    .find(folder => Files.exists(folder.resolve("build.sbt")))
    .get

  /** Path below the root and expected content of each file. */
  def all: Seq[(String, String)] = Seq(
    "docs/options.md" -> OptionsPage.text,
    "docs/errors.md" -> ErrorsPage.text,
    "docs/migration.md" -> MigrationPage.text,
    "connector-scala/core/src/test/resources/org/sparkkinesis/config/effects.txt" -> EffectMatrix.text,
    "docs/network.md" -> NetworkPage.text,
    "python/src/spark_kinesis/_generated.py" -> PythonOptions.text,
    "python/src/spark_kinesis/_conditions.py" -> PythonConditions.text,
    "python/src/spark_kinesis/_redaction.py" -> PythonRedaction.text,
    "python/src/spark_kinesis/_quotas.py" -> PythonQuotas.text,
    "python/src/spark_kinesis/_permissions.py" -> PermissionsTable.python,
    PermissionsTable.page
  )

  def main(args: Array[String]): Unit = all.foreach { case (path, text) =>
    val file = root.resolve(path)
    val stale = !Files.exists(file) || Files.readString(file) != text
    if (stale) {
      Files.createDirectories(file.getParent)
      Files.writeString(file, text)
    }
    println(s"${if (stale) "renewed  " else "unchanged"} $path")
  }
}
