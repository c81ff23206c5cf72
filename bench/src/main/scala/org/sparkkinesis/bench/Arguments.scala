package org.sparkkinesis.bench

/** `--seconds N` and whatever else a benchmark is given; `--json` is always on. */
final class Arguments(args: Array[String]) {
  def number(name: String, default: Int): Int =
    args.sliding(2).collectFirst { case Array(flag, value) if flag == s"--$name" => value.toInt }.getOrElse(default)

  def seconds(default: Int): Int = number("seconds", default)
}
