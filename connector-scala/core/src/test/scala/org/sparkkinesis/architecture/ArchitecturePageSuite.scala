package org.sparkkinesis.architecture

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.reference.GeneratedFiles
import org.sparkkinesis.suite.TimedSuite

/** Checks that `docs/architecture.md` names only what exists. */
class ArchitecturePageSuite extends TimedSuite {
  private val page = Files.readString(GeneratedFiles.root.resolve("docs/architecture.md"))

  /** The main sources below `connector-scala`, as `MODULE/PATH`. */
  private lazy val sources: Set[String] = {
    val modules = GeneratedFiles.root.resolve("connector-scala")
    Using.resource(Files.walk(modules))(
      _.iterator.asScala.filter(_.toString.endsWith(".scala")).map(modules.relativize(_: Path).toString)
        .filter(_.contains("/src/main/scala/")).toSet
    )
  }

  test("the file that answers a question exists") {
    val file = """`(\w+)/…/([\w/]+\.scala)`""".r
    val named = file.findAllMatchIn(page).map(found => found.group(1) -> found.group(2)).toSeq
    assert(named.size >= 10, named)
    val missing = named.filterNot { case (module, path) =>
      sources.exists(source => source.startsWith(s"$module/") && source.endsWith(s"/$path"))
    }
    assert(missing.isEmpty, missing)
  }

  test("the types of the walks and the drawing exist") {
    val walks = page.slice(page.indexOf("## Eight walks"), page.indexOf("## Question"))
    val types = """`([A-Z]\w+)[.\w]*`""".r.findAllMatchIn(walks).map(_.group(1)).toSet
    assert(types.size > 30, types)
    val declared = """(?:class|trait|object) (\w+)""".r
    val known = sources.flatMap { source =>
      declared.findAllMatchIn(Files.readString(GeneratedFiles.root.resolve(s"connector-scala/$source"))).map(_.group(1))
    }
    assert((types -- known).isEmpty, types -- known)
  }
}
