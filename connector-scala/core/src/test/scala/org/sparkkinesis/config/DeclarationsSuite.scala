package org.sparkkinesis.config

import org.sparkkinesis.suite.TimedSuite

/** Checks rules for all declared options. */
class DeclarationsSuite extends TimedSuite {
  private val all = ConnectorOptions.all

  test("option names are unique, including those of other connectors") {
    val names = all.map(_.lowerKey) ++ ForeignOptions.all.map(_.lowerName)
    assert(names.diff(names.distinct) == Nil)
  }

  test("every default is a valid value of its option") {
    all.foreach(entry => entry.default.foreach(text => assert(entry.kind.parse(text).isRight, s"${entry.key}=$text")))
  }

  test("an option has either a default or a description of its default") {
    all.foreach(entry => assert(entry.default.isEmpty || entry.defaultDoc.isEmpty, entry.key))
  }

  test("every option has a description in complete sentences") {
    all.foreach { entry =>
      assert(entry.doc.matches("(?s)[A-Z`].*[.)]"), s"${entry.key}: ${entry.doc}")
      assert(entry.kind.expected.nonEmpty, entry.key)
    }
  }

  test("option names are in camel case, with dots between groups") {
    all.foreach(entry => assert(entry.key.matches("[a-z][a-zA-Z]*(\\.[a-z][a-zA-Z]*)*(\\.\\*)?"), entry.key))
  }

  test("options with secrets are sensitive") {
    val secret = "(?i)(secret|token|password|accesskey)".r
    all.filter(entry => secret.findFirstIn(entry.key).isDefined).foreach(entry => assert(entry.sensitive, entry.key))
  }

  test("option descriptions name only options that exist") {
    val names = all.map(_.key).toSet ++ all.map(_.key.stripSuffix(".*"))
    val quoted = "`([a-z]+(?:[A-Z][a-zA-Z]*)+)(?:=[^`]*)?`".r
    val notOptions = Set("deadLetter", "batchAndDelay", "bestEffort", "roundRobin", "accessKeyId", "secretAccessKey")
    all.foreach { entry =>
      quoted.findAllMatchIn(entry.doc + entry.defaultDoc).map(_.group(1)).filterNot(notOptions)
        .foreach(name => assert(names(name), s"${entry.key} names `$name`"))
    }
  }
}
