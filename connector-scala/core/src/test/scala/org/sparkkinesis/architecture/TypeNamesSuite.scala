package org.sparkkinesis.architecture

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.reference.GeneratedFiles
import org.sparkkinesis.suite.TimedSuite

class TypeNamesSuite extends TimedSuite {
  private def sources(module: Path): Seq[(String, String)] = {
    val main = module.resolve("src/main/scala")
    if (!Files.isDirectory(main)) Nil
    else
      Using.resource(Files.walk(main))(
        _.iterator.asScala.filter(_.toString.endsWith(".scala"))
          .map(file => GeneratedFiles.root.relativize(file).toString -> Files.readString(file)).toVector
      )
  }

  test("no two files of the modules' main sources declare a top-level type with the same name") {
    val modules = Using.resource(Files.list(GeneratedFiles.root.resolve("connector-scala")))(
      _.iterator.asScala.toVector
    )
    val all = modules.flatMap(sources)
    assert(all.size > 400, all.size)
    val repeated = TypeNames.repeated(all)
    assert(repeated.isEmpty, repeated)
  }

  test("a name in two files is found, whatever its modifiers are; companions and nested types are not") {
    val sources = Seq(
      "a.scala" -> "package a\n\nfinal private[a] case class Same(i: Int)\n\nobject Same {\n  class Inner\n}\n",
      "b.scala" -> "package b\n\nsealed trait Same\nclass Other {\n  class Inner\n}\n",
      "c.scala" -> "package c\n\nprivate object Other\nabstract class Single\n"
    )
    assert(TypeNames.repeated(sources) ==
      Map("Same" -> Seq("a.scala", "b.scala"), "Other" -> Seq("b.scala", "c.scala")))
  }
}
