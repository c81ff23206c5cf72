package org.sparkkinesis.config.value

import java.util.regex.Pattern

import scala.concurrent.duration._

import org.scalactic.source

import org.sparkkinesis.suite.TimedSuite

class OptionTypeSuite extends TimedSuite {
  import OptionType._

  private def reads[T](kind: OptionType[T], table: (String, T)*)(implicit at: source.Position): Unit =
    table.foreach { case (text, value) => assert(kind.parse(text) == Right(value), s"reading '$text'") }

  private def refuses(kind: OptionType[_], table: (String, String)*)(implicit at: source.Position): Unit =
    table.foreach { case (text, why) => assert(kind.parse(text).swap.toOption == Some(why), s"reading '$text'") }

  test("a string option accepts any text that is not empty") {
    reads(Text, "a" -> "a", " two words " -> " two words ")
    refuses(Text, "" -> "It is empty.")
  }

  test("a flag is true or false in any case, with white space around it") {
    reads(Flag, "true" -> true, "TRUE" -> true, "False" -> false, " true " -> true)
    refuses(Flag, Seq("yes", "1", "", "truee").map(_ -> "It is neither true nor false."): _*)
  }

  test("a whole number is within its bounds, including both") {
    reads(Whole(1, 500), "1" -> 1L, "500" -> 500L, " 42 " -> 42L)
    refuses(
      Whole(1, 500),
      "0" -> "0 is outside of 1 to 500.",
      "501" -> "501 is outside of 1 to 500.",
      "1.5" -> "It is not a whole number.",
      "ten" -> "It is not a whole number.",
      "١" -> "It is not a whole number.",
      "" -> "It is not a whole number.",
      "99999999999999999999" -> "It is not a whole number."
    )
    assert(Whole(1, 500).expected == "a whole number from 1 to 500")
    assert(Whole(1, Long.MaxValue).expected == "a whole number of at least 1")
  }

  test("a number is within its bounds and is neither infinite nor NaN") {
    reads(Real(1, 10), "1" -> 1.0, "1.5" -> 1.5, "1e1" -> 10.0)
    refuses(
      Real(1, 10),
      "0.99" -> "0.99 is outside of 1.0 to 10.0.",
      "1e99" -> "1e99 is outside of 1.0 to 10.0.",
      "NaN" -> "It is not a number.",
      "Infinity" -> "It is not a number.",
      "2d" -> "It is not a number.",
      "x" -> "It is not a number."
    )
  }

  test("a size accepts Spark's units as powers of 1024") {
    val kind = Bytes(1, 1L << 40)
    reads(
      kind,
      "1" -> 1L,
      "512b" -> 512L,
      "1k" -> 1024L,
      "2KB" -> 2048L,
      "3 KiB" -> 3072L,
      "10m" -> 10485760L,
      "10MiB" -> 10485760L,
      "64mb" -> 67108864L,
      "1g" -> (1L << 30),
      "2GB" -> (2L << 30),
      "1GiB" -> (1L << 30)
    )
    refuses(
      kind,
      "0" -> "0 is outside of 1 to 1024g.",
      "1025g" -> "1025g is outside of 1 to 1024g.",
      "99999999999999999999g" -> "99999999999999999999g is outside of 1 to 1024g.",
      "1.5m" -> "It is not a size.",
      "-1" -> "It is not a size.",
      "10x" -> "It is not a size.",
      "m" -> "It is not a size."
    )
  }

  test("a size is shown in the largest unit of which it is a multiple") {
    Seq(0L -> "0", 1L -> "1", 1023L -> "1023", 1024L -> "1k", 1536L -> "1536", 10485760L -> "10m", (3L << 30) -> "3g")
      .foreach { case (size, text) => assert(Bytes.show(size) == text) }
  }

  test("a duration accepts Spark's units and is in milliseconds without a unit") {
    val kind = Duration(1.milli, 365.days)
    reads(
      kind,
      "250" -> 250.millis,
      "250ms" -> 250.millis,
      "10s" -> 10.seconds,
      "10 S" -> 10.seconds,
      "15m" -> 15.minutes,
      "15min" -> 15.minutes,
      "1h" -> 1.hour,
      "2d" -> 2.days
    )
    refuses(
      kind,
      "0" -> "0 is outside of 1ms to 365d.",
      "366d" -> "366d is outside of 1ms to 365d.",
      "999999999999999d" -> "999999999999999d is outside of 1ms to 365d.",
      "-5s" -> "It is not a duration.",
      "1.5s" -> "It is not a duration.",
      "1 fortnight" -> "It is not a duration.",
      "" -> "It is not a duration."
    )
  }

  test("a duration is shown in the largest unit of which it is a multiple") {
    Seq(0.millis -> "0ms", 250.millis -> "250ms", 1500.millis -> "1500ms", 10.seconds -> "10s", 15.minutes -> "15m")
      .foreach { case (duration, text) => assert(Duration.show(duration) == text) }
    assert(Duration.show(48.hours) == "2d")
  }

  test("the text of a size or a duration is parsed to the same value") {
    val sizes = Bytes(0, Long.MaxValue)
    Seq(0L, 1L, 1023L, 1024L, 123456789L, Int.MaxValue.toLong, 7L << 32)
      .foreach(size => assert(sizes.parse(sizes.render(size)) == Right(size)))
    val durations = Duration(0.millis, 365.days)
    Seq(0L, 1L, 999L, 1000L, 61000L, 3600000L, 86400000L).map(_.millis)
      .foreach(duration => assert(durations.parse(durations.render(duration)) == Right(duration)))
  }

  test("one of several values is matched without regard to case") {
    val kind = OneOf(OnInvalidRecord.all)
    reads(
      kind,
      "deadletter" -> OnInvalidRecord.DeadLetter,
      "FAIL" -> OnInvalidRecord.Fail,
      " drop " -> OnInvalidRecord.Drop
    )
    refuses(kind, Seq("", "failed", "none").map(_ -> "It is not one of the accepted values."): _*)
    assert(kind.expected == "one of 'fail', 'deadLetter', 'drop'")
    assert(kind.pythonType == """Literal["fail", "deadLetter", "drop"]""")
  }

  test("a pattern must match the whole text") {
    val kind = Matching("a name", "[a-z]+", "It is not a name.")
    reads(kind, "abc" -> "abc")
    refuses(kind, "abc1" -> "It is not a name.", "ABC" -> "It is not a name.", "" -> "It is empty.")
  }

  test("a regular expression that does not compile is rejected with the position of the error") {
    assert(RegularExpression.parse("orders-.*").map(_.pattern) == Right("orders-.*"))
    assert(RegularExpression.parse("orders-(").swap.exists(_.startsWith("It does not compile: ")))
    assert(RegularExpression.render(Pattern.compile("a+")) == "a+")
  }
}
