package org.sparkkinesis.spark.sink.invalid

import java.io.{ByteArrayOutputStream, ObjectOutputStream}

import org.sparkkinesis.error.KinesisConnectorException
import org.sparkkinesis.spark.sink.{WriteCounts, WrittenPartition}
import org.sparkkinesis.suite.TimedSuite

class HeldLettersSuite extends TimedSuite {
  private val MiB = 1L << 20

  private def row(n: Int, payload: Int): InvalidRow =
    InvalidRow(
      3,
      n.toLong,
      "orders",
      s"its partition key has ${n + 300} characters",
      Some(s"key-$n"),
      Some(new Array[Byte](payload))
    )

  /** Returns the bytes that Spark sends to the driver for a task with the maximum number of rows of this size. */
  private def sentBy(maxBytes: Int, payload: Int): (Int, Int) = {
    val letters = new HeldLetters("letters", maxBytes)
    val error = intercept[KinesisConnectorException]((1 to 20000).foreach(n => letters.add(row(n, payload))))
    assert(error.condition == "KINESIS_SINK_DEAD_LETTERS_TOO_MANY")
    assert(error.parameters("held") == letters.all.size.toString)
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(WrittenPartition(WriteCounts(), letters.all).message)
    (letters.all.size, bytes.size)
  }

  test("a task's message to the driver is within its share for any invalid rows") {
    for (share <- Seq(64 * 1024, 1 << 20, 16 << 20); payload <- Seq(0, 10, 1000, 100000)) {
      val (rows, sent) = sentBy(share, payload)
      // Counts and class names are sent once per task.
      assert(sent <= share + 4096, s"$sent bytes of $share for $rows rows of $payload")
      assert(rows >= math.min(HeldLetters.MaxRows, share / 2 / 400), s"only $rows rows of $payload in $share")
    }
  }

  test("the messages of 200 or 10,000 tasks are below spark.driver.maxResultSize together") {
    val budget = LetterBudget.of(1024 * MiB)
    for (tasks <- Seq(1, 2, 200, 10000))
      assert(HeldLetters.bytesOfTask(budget, tasks).toLong * tasks <= 1024 * MiB / 4)
    assert(HeldLetters.bytesOfTask(budget, 1) == HeldLetters.MaxBytes)
    assert(HeldLetters.bytesOfTask(budget, 0) == HeldLetters.MaxBytes)
  }

  test("without a limit the driver's heap is the limit") {
    assert(LetterBudget.of(0) == Runtime.getRuntime.maxMemory / 4)
  }

  test("payloads are truncated without room, and the rows are kept") {
    val letters = new HeldLetters("letters", 64 * 1024)
    (1 to 50).foreach(n => letters.add(row(n, 10000)))
    assert(letters.all.map(_.data.map(_.length).getOrElse(-1)).distinct == Seq(10000, 2768, 0))
    assert(letters.all.forall(_.dataBytes.contains(10000L)))
  }
}
