package org.sparkkinesis.error

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.sparkkinesis.suite.TimedSuite

class ErrorConditionsSuite extends TimedSuite {
  private val conditions = ErrorConditions.all

  test("every condition says the problem, the cause and the fix in whole sentences") {
    val ends = "(?s).*([.?]|\\{[a-zA-Z]+\\})"
    conditions.values.foreach { condition =>
      Seq(condition.problem, condition.fix, condition.cause)
        .foreach(text => assert(text.matches(ends) && !text.matches("[a-z].*"), s"${condition.name}: $text"))
      assert(condition.name.matches("KINESIS(_[A-Z]+)+"), condition.name)
    }
  }

  test("a message has its condition's name, problem, cause and fix, with every parameter filled in") {
    val error = KinesisConnectorException("KINESIS_STREAM_UNUSABLE", "stream" -> "a$1b\\", "status" -> "DELETING")
    assert(
      error.getMessage ==
        "[KINESIS_STREAM_UNUSABLE] Stream 'a$1b\\' is DELETING. Cause: Only an ACTIVE or UPDATING stream can be read or " +
        "written. Fix: Wait until the stream is ACTIVE, then start the query again."
    )
  }

  test("a parameter's value that looks like a parameter is not filled in again") {
    val text = ErrorConditions.message("KINESIS_STREAM_UNUSABLE", Map("stream" -> "{status}", "status" -> "CREATING"))
    assert(text.contains("Stream '{status}' is CREATING."), text)
  }

  test("every condition that the sources raise is declared, and given exactly its parameters") {
    val raised = ErrorConditionsSuite.calls
    assert(raised.nonEmpty, "no source was scanned")
    val defects = raised.flatMap { call =>
      conditions.get(call.condition) match {
        case None => Some(s"${call.where} raises the undeclared ${call.condition}")
        case Some(condition) if !call.gives(condition.parameters) =>
          Some(s"${call.where} gives ${call.condition} ${call.parameters}, which takes ${condition.parameters}")
        case _ => None
      }
    }
    assert(defects == Nil)
  }

  test("every condition's name in the sources is a declared one") {
    val undeclared = ErrorConditionsSuite.sources.flatMap { case (file, text) =>
      "\"(KINESIS_[A-Z_]+)\"".r.findAllMatchIn(text).map(_.group(1)).filterNot(conditions.contains).map(name =>
        s"$file: $name"
      )
    }
    assert(undeclared == Nil)
  }

  test("the scan of the sources finds conditions and parameters in calls of every form") {
    val text =
      """KinesisConnectorException("A_B", "one" -> s"x #{y("z" -> 1)} )", "two" -> f("three" -> 3))
        |KinesisConnectorException.causedBy(e, "C_D")
        |new KinesisConnectorException("E_F", Map("six" -> "a, b", "seven" -> ")"), e)
        |KinesisConnectorException("G_H", others :+ ("eight" -> "8"): _*)""".stripMargin.replace('#', '$')
    assert(
      ErrorConditionsSuite.callsIn("here", text) ==
        Seq(
          ErrorConditionsSuite.Call("here:1", "A_B", Set("one", "two")),
          ErrorConditionsSuite.Call("here:2", "C_D", Set.empty[String]),
          ErrorConditionsSuite.Call("here:3", "E_F", Set("six", "seven")),
          ErrorConditionsSuite.Call(
            "here:4",
            "G_H",
            Set("one", "z", "two", "three", "six", "seven", "eight"),
            exact = false
          )
        )
    )
  }
}

/** Reads the project's own sources for the conditions that they raise. */
object ErrorConditionsSuite {

  /** `exact` unless the parameters come in a sequence: then they are all that the file names, and may be more. */
  final case class Call(where: String, condition: String, parameters: Set[String], exact: Boolean = true) {
    def gives(wanted: Set[String]): Boolean = if (exact) parameters == wanted else wanted.subsetOf(parameters)
  }

  lazy val sources: Seq[(String, String)] = {
    val modules = Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).map(_.resolve("connector-scala"))
      .find(Files.isDirectory(_)).get
    Using.resource(Files.walk(modules)) { files =>
      files.iterator.asScala.filter(isMainSource).toSeq.sorted.map(file =>
        modules.relativize(file).toString -> Files.readString(file)
      )
    }
  }

  lazy val calls: Seq[Call] = sources.flatMap { case (file, text) => callsIn(file, text) }

  private def isMainSource(file: Path): Boolean =
    file.toString.contains("/src/main/") && (file.toString.endsWith(".scala") || file.toString.endsWith(".java"))

  private val Start = """KinesisConnectorException(?:\.causedBy)?\(\s*(?:[\w.]+\s*,\s*)?"([A-Z_]+)"""".r
  private val Parameter = """"([a-zA-Z]+)"\s*->""".r

  def callsIn(file: String, text: String): Seq[Call] = Start.findAllMatchIn(text).map { m =>
    val line = text.substring(0, m.start).count(_ == '\n') + 1
    val arguments = topLevel(text, m.end)
    if (arguments.exists(_.endsWith(": _*")))
      Call(s"$file:$line", m.group(1), Parameter.findAllMatchIn(text).map(_.group(1)).toSet, exact = false)
    else {
      val flat = arguments.flatMap(a => if (a.startsWith("Map(")) topLevel(a, "Map(".length) else Seq(a))
      val leading = flat.flatMap(Parameter.findPrefixMatchOf(_))
      Call(s"$file:$line", m.group(1), leading.map(_.group(1)).toSet)
    }
  }.toSeq

  /** The arguments from `from` to the parenthesis that closes the call, split at its commas; strings are skipped over. */
  private def topLevel(text: String, from: Int): Seq[String] = {
    val arguments = Seq.newBuilder[String]
    var depth = 0
    var begin = from
    var i = from
    while (depth >= 0) {
      text.charAt(i) match {
        case '"' => i = endOfString(text, i)
        case '(' | '{' | '[' => depth += 1
        case ')' | '}' | ']' => depth -= 1
        case ',' if depth == 0 =>
          arguments += text.substring(begin, i).trim
          begin = i + 1
        case _ =>
      }
      i += 1
    }
    (arguments += text.substring(begin, i - 1).trim).result().filter(_.nonEmpty)
  }

  /** The index of the quote that ends the string begun at `from`, over escapes and interpolated expressions. */
  private def endOfString(text: String, from: Int): Int =
    if (text.startsWith("\"\"\"", from)) text.indexOf("\"\"\"", from + 3) + 2
    else {
      var i = from + 1
      while (text.charAt(i) != '"') {
        if (text.charAt(i) == '\\') i += 1
        else if (text.startsWith("${", i)) i = endOfBlock(text, i + 2)
        i += 1
      }
      i
    }

  private def endOfBlock(text: String, from: Int): Int = {
    var depth = 1
    var i = from
    while (depth > 0) {
      text.charAt(i) match {
        case '"' => i = endOfString(text, i)
        case '{' => depth += 1
        case '}' => depth -= 1
        case _ =>
      }
      i += 1
    }
    i - 1
  }
}
