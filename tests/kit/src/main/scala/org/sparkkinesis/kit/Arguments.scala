package org.sparkkinesis.kit

import java.util.concurrent.ThreadLocalRandom

/** The command line of a benchmark or a chaos test: pairs of `--name value`. */
final class Arguments private (values: Map[String, String]) {
  def apply(name: String): String = values.getOrElse(name, throw new IllegalArgumentException(s"--$name is missing"))
  def text(name: String, default: String): String = values.getOrElse(name, default)
  def number(name: String, default: Int): Int = values.get(name).fold(default)(_.toInt)
  def seconds(default: Int): Int = number("seconds", default)

  /** Returns the values whose names start with `prefix`, by the rest of the name. */
  def under(prefix: String): Map[String, String] =
    values.collect { case (name, value) if name.startsWith(prefix) => name.stripPrefix(prefix) -> value }

  /** Returns the given seed or a random one, and prints it first, so that a failed run can be repeated. */
  def seed(): Long = {
    val chosen = values.get("seed").fold(ThreadLocalRandom.current.nextLong(1000000))(_.toLong)
    println(s"seed $chosen")
    chosen
  }
}

object Arguments {
  def apply(args: Array[String]): Arguments = new Arguments(
    args
      .grouped(2)
      .map {
        case Array(name, value) if name.startsWith("--") => name.stripPrefix("--") -> value
        case other => throw new IllegalArgumentException(s"expected --name value, found ${other.mkString(" ")}")
      }
      .toMap
  )
}
