package org.sparkkinesis.event

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.reference.GeneratedFiles
import org.sparkkinesis.suite.TimedSuite

/** Checks that a test of the component that emits an event names the event. */
class EmittedEventsSuite extends TimedSuite {

  /** The suites of the modules and of the integration tests, without those of the log, whose events are examples. */
  private def suites: Seq[Path] = Seq("connector-scala", "tests/integration").flatMap { folder =>
    Using.resource(Files.walk(GeneratedFiles.root.resolve(folder)))(
      _.iterator.asScala.filter(_.toString.endsWith("Suite.scala")).toVector
    )
  }.filterNot(_.toString.contains("/core/src/test/scala/org/sparkkinesis/event/"))

  test("every event is expected by a suite") {
    val imports = """(?m)^import [^\n{]*(\{[^}]*\})?""".r
    val texts = suites.map(file => imports.replaceAllIn(Files.readString(file), ""))
    assert(texts.size > 150, texts.size)
    val words = texts.flatMap("\\w+".r.findAllIn(_)).toSet
    val names = EventClasses.names
    val unseen = names.diff(words)
    assert(names.size > 40 && unseen.isEmpty, unseen)
  }
}
