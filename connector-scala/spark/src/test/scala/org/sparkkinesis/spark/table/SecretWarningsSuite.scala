package org.sparkkinesis.spark.table

import org.sparkkinesis.config.Options
import org.sparkkinesis.event.SecretInClearText
import org.sparkkinesis.suite.TimedSuite

class SecretWarningsSuite extends TimedSuite {
  private val named = Map("streamName" -> "orders", "region" -> "us-east-1", "awsAccessKey" -> "env:KEY_ID")

  /** The warnings about a table, whose options a catalog stores twice. */
  private def ofTable(options: Map[String, String]): Seq[String] = {
    val stored = options ++ options.map { case (name, value) => s"option.$name" -> value }
    SecretWarnings.of(Options.read(options), stored).map(SecretInClearText(_).message)
  }

  test("a literal secret in the options of a table is a warning that names references, and not the secret") {
    val warning = ofTable(named + ("awsSecretKey" -> "planted-literal-0")).mkString("; ")
    assert(warning.contains("'awsSecretKey'") && warning.contains("env:NAME") && !warning.contains("planted"), warning)
  }

  test("references, the keys of an emulator on this machine, and options without a table cause no warning") {
    assert(ofTable(named + ("awsSecretKey" -> "env:SECRET")).isEmpty)
    assert(ofTable(named ++ Map("awsSecretKey" -> "literal", "endpoint" -> "http://127.0.0.1:4567")).isEmpty)
    val literal = named + ("awsSecretKey" -> "literal")
    assert(SecretWarnings.of(Options.read(literal), literal).isEmpty)
  }
}
