package org.sparkkinesis.chaos.query

import java.nio.file.Files

import org.sparkkinesis.chaos.TemporaryFolder
import org.sparkkinesis.suite.TimedSuite

class HandedRowsSuite extends TimedSuite with TemporaryFolder {
  private val first = SeenRecord("orders", 1, "key-1", "shardId-000000000000", "4971")
  private val second = SeenRecord("orders", 2, "key-2", "shardId-000000000001", "4972")
  private val whole = s"1000\t${first.line}\n"

  private def numbers(text: String): Seq[Long] = {
    val output = folder()
    Files.writeString(output.resolve("3.app-1.0.name.handed"), text)
    new HandedRows(output).rows().map(_.record.number)
  }

  test("a row that a task is writing is not there before its line is complete") {
    val line = s"2000\t${second.line}\n"
    (0 until line.length).foreach(length => assert(numbers(whole + line.take(length)) == Seq(1), s"$length characters"))
    assert(numbers(whole + line) == Seq(1, 2))
    assert(numbers("") == Nil && numbers(line.dropRight(1)) == Nil)
  }

  test("a complete line that is no row is an error") {
    assert(intercept[IllegalStateException](numbers(s"2000\torders\n$whole")).getMessage.contains("a broken line"))
  }
}
