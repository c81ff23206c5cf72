package org.sparkkinesis.bench

/** `--seconds N` and whatever else a benchmark is given; `--json` is always on. */
final class Arguments(args: Array[String]) {
  def number(name: String, default: Int): Int = find(name).fold(default)(_.toInt)
  def seconds(default: Int): Int = number("seconds", default)
  def text(name: String, default: String): String = find(name).getOrElse(default)
  def text(name: String): String = find(name).getOrElse(throw new IllegalArgumentException(s"--$name is missing"))

  private def find(name: String): Option[String] =
    args.sliding(2).collectFirst { case Array(flag, value) if flag == s"--$name" => value }
}
