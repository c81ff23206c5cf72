package org.sparkkinesis.chaos

/** `--name value` pairs of a command line. */
final case class Arguments(values: Map[String, String]) {
  def apply(name: String): String = values.getOrElse(name, throw new IllegalArgumentException(s"--$name is missing"))
  def text(name: String, otherwise: String): String = values.getOrElse(name, otherwise)
  def int(name: String, otherwise: Int): Int = values.get(name).fold(otherwise)(_.toInt)
  def long(name: String, otherwise: => Long): Long = values.get(name).fold(otherwise)(_.toLong)

  /** Names that begin with `prefix`, without it. */
  def under(prefix: String): Map[String, String] =
    values.collect { case (name, value) if name.startsWith(prefix) => name.stripPrefix(prefix) -> value }

  /** The seed that was given, or a new one; printed first, so that a failing run can be repeated. */
  def seed(): Long = {
    val chosen = long("seed", java.util.concurrent.ThreadLocalRandom.current.nextLong(1000000))
    println(s"seed $chosen")
    chosen
  }
}

object Arguments {
  def apply(args: Array[String]): Arguments = Arguments(
    args
      .grouped(2)
      .map {
        case Array(name, value) if name.startsWith("--") => name.stripPrefix("--") -> value
        case other => throw new IllegalArgumentException(s"expected --name value, found ${other.mkString(" ")}")
      }
      .toMap
  )
}
