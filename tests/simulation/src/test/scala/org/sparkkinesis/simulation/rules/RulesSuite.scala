package org.sparkkinesis.simulation.rules

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.sparkkinesis.suite.TimedSuite

/** Shows for each rule of README.md that a product which breaks it is found. */
class RulesSuite extends TimedSuite {
  private val all = ReadRules.all ++ WriteRules.all ++ RouteRules.all

  test("each broken product is found") {
    val missed = all.filterNot(broken => broken.found.contains(broken.kind))
    assert(missed.isEmpty, missed.map(broken => s"\n$broken: ${broken.found}").mkString)
  }

  test("a correct product breaks no rule") {
    ReadRules.query()
  }

  test("there is a broken product for each rule of the table, and no other") {
    assert(all.map(_.rule).distinct.sorted == rules.sorted)
  }

  /** The first column of the table of rules. */
  private def rules: Seq[String] = {
    val root = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
    val readme: Path = root.map(_.resolve("tests/simulation/README.md")).find(Files.exists(_)).get
    val section = Files.readAllLines(readme).asScala.dropWhile(_ != "## Rules").drop(1).takeWhile(!_.startsWith("## "))
    section.filter(_.startsWith("| ")).map(_.split('|')(1).trim).filterNot(_ == "Rule").toSeq
  }
}
