package org.sparkkinesis.chaos

import java.nio.file.{Files, Path}

import org.sparkkinesis.json.Json
import org.sparkkinesis.kit.Arguments

/** The result of a chaos test: one JSON object for its last line, and whether no rule was broken. */
trait ChaosOutcome {
  def json: String
  def isRight: Boolean

  /** Returns a number of seconds as a member of the object, to a tenth. */
  protected def inSeconds(seconds: Double): (String, Json) =
    "seconds" -> Json.Num(BigDecimal(seconds).setScale(1, BigDecimal.RoundingMode.HALF_UP))
}

/** The main method of chaos tests with processes of their own, whose logs and output are in one folder. */
object ChaosRun {

  /** Creates the folder, runs the test, prints its result, and exits with 1 if the test has found a fault. */
  def main(name: String, args: Array[String])(run: (Path, Arguments) => ChaosOutcome): Unit = {
    val arguments = Arguments(args)
    val folder = Files.createTempDirectory(name)
    println(s"logs and output in $folder")
    val outcome = run(folder, arguments)
    println(outcome.json)
    sys.exit(if (outcome.isRight) 0 else 1)
  }
}
