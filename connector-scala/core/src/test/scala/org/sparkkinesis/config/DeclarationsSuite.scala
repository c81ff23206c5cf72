package org.sparkkinesis.config

import org.sparkkinesis.suite.TimedSuite

/** What holds for every declared option. */
class DeclarationsSuite extends TimedSuite {
  private val all = ConnectorOptions.all

  test("no two options share a name, be it of this connector or of another") {
    val names = all.map(_.lowerKey) ++ ForeignOptions.all.map(_.lowerName)
    assert(names.diff(names.distinct) == Nil)
  }

  test("every default is a value that its own option takes") {
    all.foreach(entry => entry.default.foreach(text => assert(entry.kind.parse(text).isRight, s"${entry.key}=$text")))
  }

  test("an option has a default or says what stands for it, never both") {
    all.foreach(entry => assert(entry.default.isEmpty || entry.defaultDoc.isEmpty, entry.key))
  }

  test("every option is explained in whole sentences") {
    all.foreach { entry =>
      assert(entry.doc.matches("(?s)[A-Z`].*[.)]"), s"${entry.key}: ${entry.doc}")
      assert(entry.kind.expected.nonEmpty, entry.key)
    }
  }

  test("names of options are camel case, with dots between groups") {
    all.foreach(entry => assert(entry.key.matches("[a-z][a-zA-Z]*(\\.[a-z][a-zA-Z]*)*(\\.\\*)?"), entry.key))
  }

  test("what carries a secret is marked as sensitive") {
    val secret = "(?i)(secret|token|password|accesskey)".r
    all.filter(entry => secret.findFirstIn(entry.key).isDefined).foreach(entry => assert(entry.sensitive, entry.key))
  }

  test("every option that the text of another names exists") {
    val names = all.map(_.key).toSet ++ all.map(_.key.stripSuffix(".*"))
    val quoted = "`([a-z]+(?:[A-Z][a-zA-Z]*)+)(?:=[^`]*)?`".r
    val notOptions = Set("deadLetter", "batchAndDelay", "accessKeyId", "secretAccessKey")
    all.foreach { entry =>
      quoted.findAllMatchIn(entry.doc + entry.defaultDoc).map(_.group(1)).filterNot(notOptions)
        .foreach(name => assert(names(name), s"${entry.key} speaks of `$name`"))
    }
  }
}
